"""A role needs enough cases, an interval above the threshold, and weight."""

from __future__ import annotations

from math import sqrt

import pytest

from core.analysis.verdict import FEWEST_CASES, LEAST_WEIGHT, holds, lower_bound

Z = 1.959964


@pytest.mark.parametrize("cases", [1, 50, 432])
def test_the_lower_bound_in_closed_form(cases: int) -> None:
    assert lower_bound(1.0, cases) == pytest.approx(cases / (cases + Z**2))
    assert lower_bound(0.0, cases) == 0.0
    half = (0.5 + Z**2 / (2 * cases)) - Z * sqrt(0.25 / cases + Z**2 / (4 * cases**2))
    assert lower_bound(0.5, cases) == pytest.approx(half / (1 + Z**2 / cases))


def test_no_cases_bound_nothing() -> None:
    assert lower_bound(1.0, 0) == 0.0


def test_few_cases_give_no_role() -> None:
    assert holds(1.0, FEWEST_CASES, 0.5)
    assert not holds(1.0, FEWEST_CASES - 1, 0.5)


def test_the_interval_decides_and_not_the_score() -> None:
    """0.62 of 100 reaches down to 0.52, of 1,000 to 0.59."""
    assert not holds(0.62, 100, 0.55)
    assert holds(0.62, 1_000, 0.55)


def test_a_place_without_weight_is_no_role() -> None:
    assert not holds(1.0, 1_000, 0.5, weight=LEAST_WEIGHT - 0.01)
    assert holds(1.0, 1_000, 0.5, weight=LEAST_WEIGHT)
