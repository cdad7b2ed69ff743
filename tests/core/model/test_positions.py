from __future__ import annotations

import math

import pytest
import torch

from core.errors import UserError
from core.heads import AttentionKind
from core.model.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    sinusoid_table,
    wavelength_exponents,
)
from tests.core.model.small import random_ids, small_config, small_transformer


def test_literal_values() -> None:
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004],
        [0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067],
    ]
    torch.testing.assert_close(sinusoid_table(0, 3, 4), torch.tensor(expected), atol=1e-7, rtol=0)


def test_halves_are_the_same_columns_in_another_order() -> None:
    interleaved = sinusoid_table(0, 20, 8)
    halves = sinusoid_table(0, 20, 8, layout="halves")
    assert torch.equal(halves, torch.cat([interleaved[:, 0::2], interleaved[:, 1::2]], dim=1))


@pytest.mark.parametrize(
    ("denominator", "longest"),
    [("d_model", 10000 ** (1 - 2 / 512)), ("d_model-2", 10000.0)],
)
def test_wavelengths_are_geometric_from_2π_to_10000_times_2π(
    denominator: str, longest: float
) -> None:
    wavelengths = 2 * math.pi * 10000 ** wavelength_exponents(512, denominator)
    assert wavelengths[0].item() == pytest.approx(2 * math.pi, rel=1e-12)
    assert wavelengths[-1].item() == pytest.approx(2 * math.pi * longest, rel=1e-12)
    ratios = wavelengths[1:] / wavelengths[:-1]
    torch.testing.assert_close(ratios, ratios[:1].expand_as(ratios), atol=0, rtol=1e-12)


@pytest.mark.parametrize("denominator", ["d_model", "d_model-2"])
@pytest.mark.parametrize("shift", [1, 7, 100])
def test_a_shift_is_one_rotation_for_all_positions(shift: int, denominator: str) -> None:
    """PE(pos + k) = R_k PE(pos), R_k block-diagonal and orthogonal."""
    d_model = 16
    frequency = 10000 ** -wavelength_exponents(d_model, denominator)
    blocks = [
        torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        for angle in (shift * frequency).tolist()
    ]
    rotation = torch.block_diag(*blocks)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(d_model), atol=1e-6, rtol=0)
    table = sinusoid_table(0, 400, d_model, denominator=denominator)
    torch.testing.assert_close(table[: 400 - shift] @ rotation.T, table[shift:], atol=1e-5, rtol=0)


def test_a_table_from_the_middle_is_part_of_the_whole() -> None:
    assert torch.equal(sinusoid_table(90, 100, 12), sinusoid_table(0, 100, 12)[90:])


def test_growth_on_demand_equals_a_fresh_table() -> None:
    positions = SinusoidalPositions(small_config())
    at_first = positions(0, 10)
    assert torch.equal(positions(250, 900), sinusoid_table(250, 900, 12))
    assert torch.equal(positions(0, 10), at_first)
    assert torch.equal(positions(5000, 5001), sinusoid_table(5000, 5001, 12))


def test_growth_keeps_the_precision_of_the_model() -> None:
    positions = SinusoidalPositions(small_config()).half()
    assert positions(0, 300).dtype == torch.float16


def test_a_model_that_grew_while_it_translated_can_still_be_trained() -> None:
    model = small_transformer()
    long = random_ids(1, 300)
    with torch.inference_mode():
        model.encode(long)
    model(long, long).sum().backward()
    assert model.source_embedding.weight.grad is not None


def test_the_sinusoids_are_never_saved() -> None:
    assert not [name for name in small_transformer().state_dict() if "positions" in name]


def test_rotary_positions_turn_each_pair_of_columns() -> None:
    x = torch.tensor([[1.0, 0.0, 0.0, 2.0]]).expand(3, -1)
    turned = RotaryPositions(4)(x)
    expected = [
        [1.0, 0.0, 0.0, 2.0],
        [math.cos(1), math.sin(1), -2 * math.sin(0.01), 2 * math.cos(0.01)],
        [math.cos(2), math.sin(2), -2 * math.sin(0.02), 2 * math.cos(0.02)],
    ]
    torch.testing.assert_close(turned, torch.tensor(expected), atol=1e-6, rtol=0)


def test_a_product_of_rotary_vectors_depends_on_the_distance_alone() -> None:
    rotary = RotaryPositions(8)
    query, key = torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(0))

    def product(at: int, other: int) -> float:
        return float((rotary.at(query, at) * rotary.at(key, other)).sum())

    assert product(7, 4) == pytest.approx(product(603, 600), abs=1e-4)  # beyond the first table
    assert product(7, 4) != pytest.approx(product(4, 7), abs=1e-2)
    assert product(5, 5) == pytest.approx(float((query * key).sum()), abs=1e-5)


def test_rotary_positions_keep_lengths_and_are_never_saved() -> None:
    model = small_transformer(positions="rotary")
    x = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(1))
    rotary = model.attention_blocks(AttentionKind.ENCODER_SELF)[0].rotary
    torch.testing.assert_close(rotary(x).norm(dim=-1), x.norm(dim=-1))
    assert not [name for name in model.state_dict() if "rotary" in name or "positions" in name]


def test_learned_positions_are_rows_of_the_table() -> None:
    positions = LearnedPositions(small_config(max_positions=6))
    assert torch.equal(positions(2, 6), positions.weight[2:6])


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_text_longer_than_the_learned_table_is_the_users_error(side: str) -> None:
    model = small_transformer(positions="learned", max_positions=6)
    source = random_ids(1, 7 if side == "source" else 6)
    target = random_ids(1, 7 if side == "target" else 6)
    with pytest.raises(UserError, match="6 positions, but the text has 7 tokens"):
        model(source, target)
