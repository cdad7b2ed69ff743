"""What label smoothing asks for, against the loss that training computes."""

from __future__ import annotations

import math

import pytest
import torch

from core.paper.recipe import least_loss, perplexity_there, rate_at, smoothed_target
from core.presets import base, preset
from core.training.loss import cross_entropy

PIECES = 7


def loss_of(probabilities: torch.Tensor, smoothing: float) -> float:
    """The loss of one token whose right piece is the first, for a model that says this."""
    hidden, target = torch.ones(1, 1, dtype=torch.float64), torch.tensor([0])
    weight = probabilities.log()[:, None]
    return float(cross_entropy(hidden, weight, None, target, smoothing=smoothing))


@pytest.mark.parametrize("smoothing", [0.01, 0.1, 0.4])
def test_the_lowest_loss_is_that_of_the_target_itself(smoothing: float) -> None:
    right, each = smoothed_target(smoothing, PIECES)
    assert right + (PIECES - 1) * each == pytest.approx(1)
    target = torch.full((PIECES,), each, dtype=torch.float64)
    target[0] = right
    assert loss_of(target, smoothing) == pytest.approx(least_loss(smoothing, PIECES))
    assert math.log(perplexity_there(smoothing, PIECES)) == pytest.approx(loss_of(target, 0.0))
    for shift in (-0.01, 0.01):
        other = target.clone()
        other[0] += shift * right
        assert loss_of(other / other.sum(), smoothing) > least_loss(smoothing, PIECES)


def test_without_smoothing_a_model_may_be_certain() -> None:
    assert smoothed_target(0.0, PIECES) == (1.0, 0.0)
    assert least_loss(0.0, PIECES) == 0.0
    assert perplexity_there(0.0, PIECES) == 1.0


def test_the_base_model_s_rate_is_highest_at_the_end_of_the_warm_up() -> None:
    peak = rate_at(base(), 4_000)
    assert peak == pytest.approx(512**-0.5 * 4_000**-0.5)
    assert rate_at(base(), 3_999) < peak
    assert rate_at(base(), 16_000) == pytest.approx(peak / 2)
    plain = preset("plain")
    assert rate_at(plain, plain.training.steps) < rate_at(plain, 11_200) / 1_000
