"""What is measured of each head at every recorded step, as the curves name and explain it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.statistics.registry import OF_MAPS, PROBED, PRONOUN, Statistic
from core.trace.trace import Head
from core.training.probe_log import ProbeLog
from transformer_viz.drawing.numbers import compact
from transformer_viz.words.titles import TITLES
from transformer_viz.words.wording import head_numbers

CURVES = tuple(sorted((*PROBED, PRONOUN), key=lambda one: not one.is_share))
"""The statistics that have a curve, shares first."""


def explanation(one: Statistic) -> str:
    """Explain a curve, which is a mean over the probe sentences unless it is a gold score."""
    mean = "Mean over the probe sentences. " if one in OF_MAPS else ""
    return mean + one.explanation


def head_label(head: Head) -> str:
    """Name a head, for example "Encoder self 2.3"."""
    return f"{TITLES[head.kind]} {head_numbers(head)}"


def since_in_words(log: ProbeLog, head: Head, statistic: Statistic, threshold: float) -> str:
    """Describe since when a head is a specialist: "Encoder self 2.3: previous token ≥ 0.5 from step
    1,800"."""
    series = log.series(head, statistic.id)
    name = f"{head_label(head)}: {statistic.name}"
    if math.isnan(series[-1]):
        return f"{name} does not exist for this kind of attention"
    if not statistic.is_share:
        return f"{name} {compact(float(series[0]))} → {compact(float(series[-1]))} {statistic.unit}"
    since = log.since(head, statistic.id, threshold)
    if since is None:
        return f"{name} {series[-1]:.2f}, below {threshold:g} at the latest step"
    return f"{name} ≥ {threshold:g} from step {since:,}"


@dataclass(frozen=True, slots=True)
class Rank:
    """A head's rank; `since` is the step from which on the threshold is kept, None where there is
    no threshold."""

    head: Head
    value: float
    since: int | None


def ranked(log: ProbeLog, statistic: Statistic, threshold: float) -> list[Rank]:
    """Rank heads: of a share, those that reached the threshold for good, the first one first, then
    the others, the highest now first; of another statistic the lowest now first. Kinds of attention
    that have no such statistic are left out."""
    found = []
    for head in log.heads:
        value = float(log.series(head, statistic.id)[-1])
        since = log.since(head, statistic.id, threshold) if statistic.is_share else None
        if not math.isnan(value):
            found.append(Rank(head, value, since))
    if not statistic.is_share:
        return sorted(found, key=lambda rank: rank.value)
    return sorted(
        found, key=lambda rank: (math.inf if rank.since is None else rank.since, -rank.value)
    )
