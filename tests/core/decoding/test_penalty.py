from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decoding.penalty import PENALTIES, best_reachable, length_penalty, normalised


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_the_papers_penalty_of_one_token_is_one(alpha: float) -> None:
    assert length_penalty(1, alpha) == 1.0


def test_literal_values() -> None:
    assert length_penalty(7, 0.6) == pytest.approx(2.0**0.6)
    assert length_penalty(7, 1.0) == pytest.approx(2.0)
    assert length_penalty(9, 0.5, "length") == pytest.approx(3.0)
    assert length_penalty(100, 0.0) == length_penalty(100, 0.0, "length") == 1.0
    assert normalised(-6.0, 7, 1.0, "gnmt") == pytest.approx(-3.0)
    assert length_penalty(7, 0.6, "none") == 1.0
    assert normalised(-6.0, 7, 1.0, "none") == -6.0


@given(
    log_probability=st.floats(-50, 0),
    length=st.integers(1, 30),
    more=st.lists(st.floats(-5, 0), min_size=1, max_size=20),
    room=st.integers(0, 30),
    alpha=st.floats(-2, 2),
    penalty=st.sampled_from(PENALTIES),
)
def test_no_continuation_scores_more_than_the_bound(
    log_probability: float,
    length: int,
    more: list[float],
    room: int,
    alpha: float,
    penalty: str,
) -> None:
    end = length + len(more)
    bound = best_reachable(log_probability, length, end + room, alpha, penalty)
    score = normalised(log_probability + sum(more), end, alpha, penalty)
    assert score <= bound + 1e-9 * abs(bound)


def test_the_bound_follows_the_sign_of_alpha() -> None:
    ways = {"log_probability": -2.0, "length": 3, "longest": 13, "penalty": "length"}
    assert best_reachable(alpha=1.0, **ways) == pytest.approx(-2 / 13)
    assert best_reachable(alpha=-1.0, **ways) == pytest.approx(-2 * 4)
    assert best_reachable(alpha=0.0, **ways) == -2.0
    assert best_reachable(**ways | {"log_probability": -math.inf}, alpha=0.6) == -math.inf
