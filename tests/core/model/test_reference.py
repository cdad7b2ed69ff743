"""The model against the NumPy reference: the same logits and the same attention maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from core.model.attention import attention_weights
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer
from tests.core.model.reference import Reference
from tests.core.model.small import padded, random_ids, small_transformer

VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "d_k, d_v and d_model / h all different": {"d_k": 5, "d_v": 3},
    "wide values": {"d_k": 2, "d_v": 7, "norm": "pre"},
    "deep encoder": {"encoder_layers": 3, "decoder_layers": 1, "encoder_d_ff": 9},
    "deep decoder": {"encoder_layers": 1, "decoder_layers": 3, "decoder_d_ff": 9},
    "different heads": {"encoder_heads": 2, "decoder_heads": 6},
    "one head": {"encoder_heads": 1, "decoder_heads": 1},
    "halves": {"position_layout": "halves"},
    "d_model-2": {"position_denominator": "d_model-2"},
    "halves, d_model-2": {"position_layout": "halves", "position_denominator": "d_model-2"},
    "learned positions": {"positions": "learned"},
    "rotary positions": {"positions": "rotary"},
    "rotary positions, wide": {"positions": "rotary", "d_k": 6, "d_v": 3, "norm": "pre"},
    "no positions": {"positions": "none"},
    "no decoder mask": {"decoder_mask": False},
    "target and output shared": {"shared_embeddings": "target"},
    "nothing shared": {"shared_embeddings": "none", "positions": "learned"},
    "inputs shared": {"shared_embeddings": "inputs", "output_bias": True},
    "two vocabularies": {"target_vocab_size": 31, "shared_embeddings": "target"},
    "two vocabularies, untied": {
        **{"target_vocab_size": 31, "shared_embeddings": "none", "output_bias": True},
    },
    "zero start": {"decoder_start": "zero"},
    "begin is padding": {"bos_id": 0, "suppressed_ids": (0,)},
    "pre-norm without top norms": {"norm": "pre", "top_norm": False},
    "post-norm with top norms": {"norm": "post", "top_norm": True},
    "no bias": {"bias": False},
    "output bias": {"output_bias": True},
    "gelu": {"activation": "gelu"},
    "silu": {"activation": "silu"},
    "unscaled embedding": {"scale_embedding": False},
    "large epsilon": {"norm_epsilon": 0.1},
}
SOURCE_LENGTHS = (4, 7)
TARGET_LENGTHS = (3, 6)


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """Two of different length, padded: source [2, 9], target [2, 7]."""
    source = padded(random_ids(2, 7, seed=1), SOURCE_LENGTHS[0], 2)
    target = padded(random_ids(2, 6, seed=2), TARGET_LENGTHS[0], 1)
    return source, target


def reference_of(model: Transformer) -> Reference:
    weights = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    return Reference(model.config, weights)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_logits_are_those_of_the_formulas(changes: dict[str, Any]) -> None:
    model = small_transformer(**changes).double()
    source, target_in = sentences()
    with torch.no_grad():
        logits = model(source, target_in).numpy()
    for sentence, (s, t) in enumerate(zip(SOURCE_LENGTHS, TARGET_LENGTHS, strict=True)):
        expected = reference_of(model).logits(
            source[sentence, :s].tolist(), target_in[sentence, :t].tolist()
        )
        np.testing.assert_allclose(logits[sentence, :t], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_recorded_queries_and_keys_give_the_maps_of_the_formulas(changes: dict[str, Any]) -> None:
    model = small_transformer(**changes).double()
    source, target_in = sentences()
    recording = Recording()
    with torch.no_grad():
        model.decode(target_in, model.encode(source, recording), source, recording)
    allowed = model.source_allowed(source)
    causal = torch.ones(7, 7).tril().bool()
    if not model.config.decoder_mask:
        causal = (target_in != model.config.pad_id)[:, None, None]
    for sentence, (s, t) in enumerate(zip(SOURCE_LENGTHS, TARGET_LENGTHS, strict=True)):
        reference = reference_of(model)
        reference.logits(source[sentence, :s].tolist(), target_in[sentence, :t].tolist())
        for recorded, maps, queries, keys, mask in (
            (recording.encoder_self, reference.maps["encoder_self"], s, s, allowed),
            (recording.decoder_self, reference.maps["decoder_self"], t, t, causal),
            (recording.cross, reference.maps["cross"], t, s, allowed),
        ):
            weights = maps_of(recorded, mask)[:, sentence]
            expected = np.array(maps)  # [L, H, Q, K]
            np.testing.assert_allclose(weights[:, :, :queries, :keys], expected, rtol=0, atol=1e-12)
            assert not weights[:, :, :queries, keys:].any()


def maps_of(recorded: list[Projections], allowed: torch.Tensor | None) -> np.ndarray:
    """[L, B, H, Q, K]."""
    return np.stack([attention_weights(one.query, one.key, allowed).numpy() for one in recorded])
