from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from core.config import ModelConfig
from core.errors import UserError


def test_the_defaults_are_the_papers_base_model() -> None:
    config = ModelConfig(vocab_size=37_000)
    assert (config.d_model, config.encoder_d_ff, config.decoder_d_ff) == (512, 2048, 2048)
    assert (config.encoder_layers, config.decoder_layers) == (6, 6)
    assert (config.encoder_heads, config.decoder_heads) == (8, 8)
    assert {config.encoder_d_k, config.encoder_d_v, config.decoder_d_k, config.decoder_d_v} == {64}
    assert (config.norm, config.positions, config.shared_embeddings) == (
        "post",
        "sinusoidal",
        "all",
    )
    assert (config.activation, config.dropout, config.scale_embedding) == ("relu", 0.1, True)


def test_head_widths_follow_the_heads_unless_they_are_set() -> None:
    config = ModelConfig(vocab_size=9, d_model=48, encoder_heads=4, decoder_heads=6)
    assert (config.encoder_d_k, config.encoder_d_v) == (12, 12)
    assert (config.decoder_d_k, config.decoder_d_v) == (8, 8)
    config = dataclasses.replace(config, d_k=5)
    assert (config.encoder_d_k, config.encoder_d_v, config.decoder_d_v) == (5, 5, 5)
    config = dataclasses.replace(config, d_v=7)
    assert (config.encoder_d_k, config.encoder_d_v, config.decoder_d_v) == (5, 7, 7)


def test_a_set_d_k_frees_the_heads_from_dividing_d_model() -> None:
    assert ModelConfig(vocab_size=9, d_model=10, encoder_heads=3, decoder_heads=7, d_k=4).d_k == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 3}, "vocab_size = 3 .* more than the largest special id, 3"),
        ({"d_model": 0}, "d_model = 0 .* 1 or more"),
        ({"d_model": 2, "d_k": 1}, "d_model = 2 .* 4 or more"),
        ({"d_model": 9, "d_k": 3}, "d_model = 9 .* an even number"),
        ({"encoder_layers": 0}, "encoder_layers = 0 .* 1 or more"),
        ({"encoder_layers": 10**9}, "encoder_layers = 1000000000 .* 1,000 at most"),
        ({"d_model": 10**12}, "d_model = 1000000000000 .* 1,000,000 at most"),
        ({"decoder_heads": 10**9, "d_k": 1}, "decoder_heads = 1000000000 .* 1,000 at most"),
        ({"decoder_layers": -1}, "decoder_layers = -1 .* 1 or more"),
        ({"encoder_heads": 7}, "encoder_heads = 7 .* a divisor of d_model = 512, or set d_k"),
        ({"decoder_heads": 3}, "decoder_heads = 3 .* a divisor of d_model = 512, or set d_k"),
        ({"encoder_heads": 0}, "encoder_heads = 0 .* 1 or more"),
        ({"decoder_d_ff": 0}, "decoder_d_ff = 0 .* 1 or more"),
        ({"d_k": 0}, "d_k = 0 .* 1 or more, or null"),
        ({"d_v": -2}, "d_v = -2 .* 1 or more, or null"),
        ({"activation": "tanh"}, "activation = 'tanh' .* relu, gelu, silu"),
        ({"norm": "mid"}, "norm = 'mid' .* post, pre"),
        ({"norm_epsilon": 0.0}, "norm_epsilon = 0.0 .* above 0"),
        ({"norm_epsilon": float("nan")}, "norm_epsilon = nan .* above 0"),
        ({"positions": "absolute"}, "positions = 'absolute' .* sinusoidal, learned, rotary, none"),
        ({"position_layout": "x"}, "position_layout = 'x' .* interleaved, halves"),
        ({"position_denominator": "x"}, "position_denominator = 'x' .* d_model, d_model-2"),
        ({"position_precision": "x"}, "position_precision = 'x' .* float32, float16"),
        ({"max_positions": 0}, "max_positions = 0 .* 1 or more"),
        ({"shared_embeddings": "some"}, "shared_embeddings = 'some' .* all, target, inputs, none"),
        ({"dropout": 1.0}, "dropout = 1.0 .* 0 or more, below 1"),
        ({"dropout": -0.1}, "dropout = -0.1 .* 0 or more, below 1"),
        ({"dropout": float("nan")}, "dropout = nan .* 0 or more, below 1"),
        ({"decoder_start": "pad"}, "decoder_start = 'pad' .* bos, zero"),
        (
            {"target_vocab_size": 3, "shared_embeddings": "none"},
            "target_vocab_size = 3 .* more than the largest special id, 3",
        ),
        ({"target_vocab_size": 50}, "shared_embeddings = 'all' .* allowed: target, none"),
        ({"suppressed_ids": (100,)}, r"suppressed_ids = \(100,\) .* ids below 100 without .* 3"),
        ({"suppressed_ids": (3,)}, r"suppressed_ids = \(3,\) .* without the end token, 3"),
        ({"unchosen_ids": (-1,)}, r"unchosen_ids = \(-1,\) .* ids below 100"),
        ({"bos_id": 1}, "special ids = .* begin alone may be that of padding"),
        (
            {"positions": "rotary", "d_k": 5},
            "d_k = 5 is not possible; allowed: an even number with rotary positions",
        ),
        ({"pad_id": -1}, "special ids = .* 0 or more"),
        ({"eos_id": 2}, "special ids = .* four different ids"),
    ],
    ids=str,
)
def test_an_impossible_value_names_field_value_and_what_is_allowed(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        ModelConfig(**({"vocab_size": 100} | changes))


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(vocab_size=100),
        ModelConfig(
            **{"vocab_size": 10, "d_model": 8, "encoder_heads": 2, "decoder_heads": 4, "d_k": 3},
            **{"norm": "pre", "positions": "learned", "dropout": 0.0, "bias": False},
        ),
    ],
)
def test_a_configuration_survives_json(config: ModelConfig) -> None:
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_whole_number_serves_where_any_number_does() -> None:
    config = ModelConfig.from_dict({"vocab_size": 9, "dropout": 0})
    assert isinstance(config.dropout, float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "needs the setting 'vocab_size', which is missing"),
        ({"vocab_size": 9, "n_heads": 8}, "has no setting 'n_heads'; it has: activation, bias, "),
        ({"vocab_size": "9"}, "vocab_size = '9' is not possible; allowed: a whole number"),
        ({"vocab_size": 9.0}, "vocab_size = 9.0 is not possible; allowed: a whole number"),
        ({"vocab_size": True}, "vocab_size = True is not possible; allowed: a whole number"),
        ({"vocab_size": None}, "vocab_size = None is not possible; allowed: a whole number"),
        ({"vocab_size": 9, "bias": 1}, "bias = 1 is not possible; allowed: true or false"),
        ({"vocab_size": 9, "norm": None}, "norm = None is not possible; allowed: a text"),
        (
            {"vocab_size": 9, "d_k": "x"},
            "d_k = 'x' is not possible; allowed: a whole number or null",
        ),
        ({"vocab_size": 9, "dropout": "0.1"}, "dropout = '0.1' is not possible; allowed: a number"),
        ({"vocab_size": 9, "dropout": 2}, "dropout = 2.0 is not possible; allowed: 0 or more"),
    ],
    ids=str,
)
def test_other_keys_and_types_are_errors(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        ModelConfig.from_dict(values)


def test_a_configuration_never_changes() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ModelConfig(vocab_size=9).d_model = 8  # type: ignore[misc]
