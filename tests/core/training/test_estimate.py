from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.config import ModelConfig
from core.model.transformer import Transformer
from core.presets import PRESETS, preset
from core.training import loss
from core.training.estimate import LOGITS_ROWS, memory_bytes, parameter_count


def counted(config: ModelConfig) -> int:
    with torch.device("meta"):
        return Transformer(config).parameter_count()


@pytest.mark.parametrize("name", PRESETS)
def test_the_formula_is_the_count_of_every_preset(name: str) -> None:
    config = preset(name).model
    assert parameter_count(config) == counted(config)


@given(st.data())
def test_the_formula_is_the_count_of_any_shape(data: st.DataObject) -> None:
    def choose(*values: object) -> object:
        return data.draw(st.sampled_from(values))

    config = ModelConfig.from_dict(
        {
            "vocab_size": choose(5, 70),
            "d_model": choose(12, 24),
            "encoder_layers": choose(1, 3),
            "decoder_layers": choose(1, 2),
            "encoder_heads": choose(1, 4),
            "decoder_heads": choose(2, 3),
            "encoder_d_ff": choose(8, 20),
            "decoder_d_ff": choose(7, 16),
            "d_k": choose(None, 5),
            "d_v": choose(None, 7),
            "norm": choose("post", "pre"),
            "positions": choose("sinusoidal", "learned"),
            "max_positions": 9,
            "shared_embeddings": choose("all", "target", "none"),
            "bias": choose(True, False),
            "output_bias": choose(True, False),
        }
    )
    assert parameter_count(config) == counted(config)


def test_memory_has_four_copies_of_the_weights_and_grows_with_the_batch() -> None:
    tiny = preset("tiny")
    small = tiny.with_settings(
        {"max_length": 2, "source_batch_tokens": 2, "target_batch_tokens": 2}
    )
    weights = 16 * parameter_count(tiny.model)
    assert weights < memory_bytes(small) < 1.1 * weights
    double = tiny.with_settings({"source_batch_tokens": 2_000, "target_batch_tokens": 2_000})
    fixed = weights + 4 * LOGITS_ROWS * tiny.model.vocab_size
    assert memory_bytes(double) - fixed == 2 * (memory_bytes(tiny) - fixed)


def test_logits_are_as_many_as_the_loss_computes_at_a_time() -> None:
    assert loss._CHUNK == LOGITS_ROWS


def test_memory_of_a_layer_by_hand() -> None:
    """d 8, one head, d_ff 16, V 10, one token on each side: 4 bytes for each number."""
    model = {
        "vocab_size": 10,
        "d_model": 8,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_heads": 1,
        "decoder_heads": 1,
        "encoder_d_ff": 16,
        "decoder_d_ff": 16,
    }
    batch = {"max_length": 2, "source_batch_tokens": 2, "target_batch_tokens": 2}
    config = preset("tiny").with_settings({**model, **batch})
    encoder = 5 * 8 + 2 * 16 + 6 * 8
    decoder = 5 * 8 + 2 * 16 + 9 * 8 + 3 * 8 + 2 * 8
    logits = 10
    weights = 16 * parameter_count(config.model)
    assert memory_bytes(config) == weights + 4 * 2 * (encoder + decoder + logits)
