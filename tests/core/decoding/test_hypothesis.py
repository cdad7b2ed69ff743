from __future__ import annotations

import math

import pytest

from core.decoding.config import SearchConfig
from core.decoding.hypothesis import Hypothesis, NBest

CONFIG = SearchConfig(beam=4, alpha=1.0, n_best=2)


def hypothesis(length: int, log_probability: float, config: SearchConfig = CONFIG) -> Hypothesis:
    return Hypothesis.finished([9] * (length - 1), log_probability, config)


def test_the_length_of_the_penalty_counts_the_end_token() -> None:
    assert hypothesis(7, -4.0).score == pytest.approx(-2.0)


def test_the_best_are_kept_in_order() -> None:
    best = NBest(CONFIG, longest=10)
    for log_probability in (-3.0, -1.0, -2.0):
        best.add(hypothesis(7, log_probability))
    assert [one.log_probability for one in best.hypotheses] == [-1.0, -2.0]


def test_settled_when_none_is_live_or_the_last_of_the_list_cannot_be_beaten() -> None:
    best = NBest(CONFIG, longest=13)  # the penalty of 13 tokens is 3, of 7 it is 2
    best.add(hypothesis(7, -2.0))
    assert not best.is_settled(-100.0, length=7)  # one place is free
    assert best.is_settled(-math.inf, length=7)
    best.add(hypothesis(7, -4.0))  # score -2
    assert not best.is_settled(-5.9, length=7)
    assert best.is_settled(-6.0, length=7)


def test_a_penalty_on_long_outputs_settles_by_the_shortest_continuation() -> None:
    config = SearchConfig(beam=4, alpha=-1.0, penalty="length")
    best = NBest(config, longest=13)
    best.add(hypothesis(7, -2.0, config))  # score -14
    assert not best.is_settled(-1.7, length=7)  # 8 · 1.7 = 13.6
    assert best.is_settled(-1.8, length=7)


def test_an_estimate_waits_for_a_whole_beam_and_then_takes_the_present_length() -> None:
    config = SearchConfig(beam=2, alpha=1.0, penalty="length", stopping="estimate")
    best = NBest(config, longest=100)
    best.add(hypothesis(4, -4.0, config))  # score -1
    assert not best.is_settled(-50.0, length=5)
    best.add(hypothesis(5, -10.0, config))  # score -2
    assert not best.is_settled(-9.9, length=5)
    assert best.is_settled(-10.0, length=5)
    assert [one.score for one in best.hypotheses] == [-1.0]  # n_best is 1
