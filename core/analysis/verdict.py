"""When a score is enough to call a head by a role."""

from __future__ import annotations

from core.analysis.interval import wilson_interval
from core.trace.sinks import SINK_SHARE

MARGIN = 0.1
"""A score says more than its baseline if it is above it by as much (Voita et al. 2019)."""

FEWEST_CASES = 50
"""Fewer say too little about a head to call it by a role."""

LEAST_WEIGHT = SINK_SHARE
"""The least mean weight on the right token. A head that puts less there mostly attends to something
else."""


def lower_bound(score: float, cases: int) -> float:
    """The lower end of the 95% Wilson interval; 0 without cases.

    For a mean of values from 0 to 1 that are not all 0 or 1 it is too low rather than too high,
    since their variance is smaller than that of a share.
    """
    return wilson_interval(score, cases)[0] if cases else 0.0


def holds(score: float, cases: int, threshold: float, weight: float | None = None) -> bool:
    """Whether a head has the role: on enough cases, surely above the threshold, and with weight.

    Args:
        score: a share of the cases, or a mean over them of values from 0 to 1.
        weight: the mean weight on what the role says is looked at; None where the score itself is
            a weight.
    """
    heavy = weight is None or weight >= LEAST_WEIGHT
    return cases >= FEWEST_CASES and lower_bound(score, cases) >= threshold and heavy
