"""How often the mark "probably wrong" is right.

A translation is bad if its sentence chrF, 0 to 100, is below ``BAD``, by the best of its
references. The threshold of the mark is chosen on every other sentence; the rates are of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import CHRF

from core.trace.doubts import DOUBTFUL

BAD = 40.0

_STEP = 0.05
_HIGHEST = 2.0
_FEWEST = 0.05  # of the sentences that are marked, and that are not


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRates:
    """How often the mark was right; shares are percentages.

    Attributes:
        threshold: doubts for each word from which a translation is marked.
        sentences: that the rates are of.
        bad: of them.
        marked: of them.
        marked_bad: of those marked; not a number if none is.
        unmarked_right: of those not marked, how many are not bad; not a number if all are marked.
    """

    threshold: float
    sentences: int
    bad: float
    marked: float
    marked_bad: float
    unmarked_right: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; NaN becomes null."""
        return {
            "threshold": self.threshold,
            "bad_below": BAD,
            "sentences": self.sentences,
            "bad": self.bad,
            "marked": self.marked,
            "marked_bad": None if np.isnan(self.marked_bad) else self.marked_bad,
            "unmarked_right": None if np.isnan(self.unmarked_right) else self.unmarked_right,
        }


def sentence_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return the chrF of each sentence by the best of its references, 0 to 100."""
    chrf = CHRF()
    return [
        chrf.sentence_score(hypothesis, list(of_sentence)).score
        for hypothesis, of_sentence in zip(hypotheses, references, strict=True)
    ]


def tuned_rates(shares: Sequence[float], chrf: Sequence[float]) -> MarkRates:
    """Choose the threshold on the first, third, … sentence and measure on the others.

    Args:
        shares: the doubts for each word, ``Doubts.share``.
        chrf: of each sentence; two sentences or more.

    Raises:
        ValueError: fewer than two sentences.
    """
    if len(shares) < 2:
        raise ValueError(f"{len(shares)} sentences cannot be halved")
    doubts, bad = np.asarray(shares, dtype=np.float64), np.asarray(chrf) < BAD
    threshold = _best_threshold(doubts[::2], bad[::2])
    return _rates(doubts[1::2], bad[1::2], threshold)


def _best_threshold(doubts: NDArray[np.float64], bad: NDArray[np.bool_]) -> float:
    """The one whose lower rate is the highest; ``DOUBTFUL`` if none divides the sentences."""
    best, highest = DOUBTFUL, -1.0
    for step in range(1, round(_HIGHEST / _STEP) + 1):
        threshold = round(step * _STEP, 2)
        rates = _rates(doubts, bad, threshold)
        if min(rates.marked, 100 - rates.marked) < 100 * _FEWEST:
            continue
        lower = min(rates.marked_bad, rates.unmarked_right)
        if lower > highest:
            best, highest = threshold, lower
    return best


def _rates(doubts: NDArray[np.float64], bad: NDArray[np.bool_], threshold: float) -> MarkRates:
    marked = doubts >= threshold
    return MarkRates(
        threshold=threshold,
        sentences=len(doubts),
        bad=_percentage(bad),
        marked=_percentage(marked),
        marked_bad=_percentage(bad[marked]),
        unmarked_right=_percentage(~bad[~marked]),
    )


def _percentage(which: NDArray[np.bool_]) -> float:
    return 100 * float(which.mean()) if len(which) else float("nan")
