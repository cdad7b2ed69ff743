from __future__ import annotations

from pathlib import Path

import pytest
import torch

from core.checkpoints.native import load_checkpoint, save_checkpoint
from core.config import ModelConfig
from core.errors import UserError
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from core.training.averaging import average_checkpoints


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(["the animal crossed the street", "das Tier überquerte sie"], 50)


def checkpoint(path: Path, tokenizer: Tokenizer, seed: int, d_model: int = 8) -> Path:
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=d_model,
        encoder_layers=1,
        decoder_layers=1,
        encoder_heads=2,
        decoder_heads=2,
        encoder_d_ff=16,
        decoder_d_ff=16,
    )
    model = Transformer(config)
    initialise(model, seed)
    save_checkpoint(path, model, tokenizer, {"step": seed})
    return path


def test_every_weight_is_the_mean(tmp_path: Path, tokenizer: Tokenizer) -> None:
    paths = [checkpoint(tmp_path / f"{seed}.safetensors", tokenizer, seed) for seed in (1, 2, 3)]
    average = average_checkpoints(paths)
    models = [dict(load_checkpoint(path).model.named_parameters()) for path in paths]
    for name, weight in average.model.named_parameters():
        mean = torch.stack([of[name] for of in models]).mean(dim=0)
        torch.testing.assert_close(weight, mean)
    assert average.provenance["step"] == 3
    assert average.model.source_embedding.weight is average.model.output_embedding.weight


def test_equal_checkpoints_are_their_own_mean_to_the_bit(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    path = checkpoint(tmp_path / "one.safetensors", tokenizer, 1)
    average = average_checkpoints([path] * 3).model
    for ours, theirs in zip(
        average.parameters(), load_checkpoint(path).model.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_different_models_have_no_mean(tmp_path: Path, tokenizer: Tokenizer) -> None:
    first = checkpoint(tmp_path / "a.safetensors", tokenizer, 1)
    with pytest.raises(UserError, match=r"a\.safetensors and .*b\.safetensors cannot be averaged"):
        average_checkpoints([first, checkpoint(tmp_path / "b.safetensors", tokenizer, 1, 16)])


def test_nothing_has_no_mean() -> None:
    with pytest.raises(UserError, match="no checkpoint to average"):
        average_checkpoints([])
