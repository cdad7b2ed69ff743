from __future__ import annotations

import math

import pytest

from core.evaluation.mark_rates import BAD, sentence_chrf, tuned_rates
from core.trace.doubts import DOUBTFUL

GOOD = BAD + 1
POOR = BAD - 1


def test_the_threshold_is_chosen_on_one_half_and_measured_on_the_other() -> None:
    tuned = [(0.0, GOOD), (0.2, GOOD), (0.6, POOR), (0.8, POOR)]  # divided from 0.25 on
    measured = [(0.2, GOOD), (0.3, GOOD), (0.3, POOR), (0.1, POOR)]
    shares, chrf = zip(
        *(one for pair in zip(tuned, measured, strict=True) for one in pair), strict=True
    )
    rates = tuned_rates(shares, chrf)
    assert rates.to_dict() == {
        "threshold": 0.25,
        "bad_below": BAD,
        "sentences": 4,
        "bad": 50.0,
        "marked": 50.0,
        "marked_bad": 50.0,
        "unmarked_right": 50.0,
    }


def test_a_translation_is_bad_below_the_limit_and_marked_from_the_threshold() -> None:
    rates = tuned_rates([0.0, 0.25, 0.25, 0.2], [GOOD, BAD, POOR, POOR])
    assert rates.threshold == 0.05
    assert rates.marked == 100
    assert rates.marked_bad == 50
    assert math.isnan(rates.unmarked_right)
    assert rates.to_dict()["unmarked_right"] is None


def test_what_cannot_be_divided_has_the_usual_threshold() -> None:
    assert tuned_rates([0.0] * 4, [GOOD] * 4).threshold == DOUBTFUL
    with pytest.raises(ValueError, match="halved"):
        tuned_rates([0.5], [GOOD])


def test_the_best_reference_counts() -> None:
    assert sentence_chrf(["Der Hund"], [["Katze", "Der Hund"]]) == [pytest.approx(100)]
    (worse,) = sentence_chrf(["Der Hund"], [["Katze"]])
    assert worse < 20
