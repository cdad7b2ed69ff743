"""Small models with random weights for the tests."""

from __future__ import annotations

from typing import Any

import torch

from core.config import ModelConfig
from core.model.transformer import Transformer

PAD = ModelConfig(vocab_size=23).pad_id


def small_config(**changes: Any) -> ModelConfig:
    return ModelConfig(
        **{
            "vocab_size": 23,
            "d_model": 12,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_heads": 3,
            "decoder_heads": 3,
            "encoder_d_ff": 20,
            "decoder_d_ff": 20,
            "max_positions": 32,
        }
        | changes
    )


def small_transformer(seed: int = 0, **changes: Any) -> Transformer:
    """In evaluation mode; every parameter random, norms and biases too, so that none is idle."""
    model = Transformer(small_config(**changes))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4, generator=generator)
    return model.eval()


def random_ids(*shape: int, seed: int = 0, vocab_size: int = 23) -> torch.Tensor:
    """Ids of ordinary tokens."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(4, vocab_size, shape, generator=generator)


def padded(ids: torch.Tensor, length: int, count: int) -> torch.Tensor:
    """ids [B, n] with sentence 0 cut to ``length`` and all filled up to n + ``count``."""
    result = torch.nn.functional.pad(ids, (0, count), value=PAD)
    result[0, length:] = PAD
    return result
