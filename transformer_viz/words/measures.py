"""The statistics of a head on the text shown, in words, and heads ranked by one of them."""

import textwrap
from collections.abc import Mapping, Sequence

from core.statistics.registry import OF_MAPS, Statistic, statistic
from core.statistics.rows import HeadStatistics
from core.trace.trace import Head, Trace
from transformer_viz.drawing.labels import display_text, isolated

_LINE = 84  # characters of a line of a tooltip


def measure(id: str) -> Statistic | None:
    """Return the statistic that the heads map is ordered by; None for the order by layer and
    head."""
    found = statistic(id)
    return found if found in OF_MAPS else None


def ranking(by: Statistic) -> str:
    """Name an order of the heads, as in "entropy, lowest first"."""
    return f"{by.name}, {'lowest' if by.lowest_first else 'highest'} first"


def explained(text: str) -> str:
    """Break an explanation into lines for a tooltip."""
    return textwrap.fill(text, _LINE)


def number(one: Statistic, measured: HeadStatistics) -> str:
    """Format the bare number of one head; a dash where there is none."""
    value = measured[one.id]
    return "–" if value is None else f"{value:.{one.digits}f}"


def spread(one: Statistic, measured: Sequence[HeadStatistics]) -> str:
    """Describe several heads of one kind: the mean, the least and the greatest."""
    values = [value for each in measured if (value := each[one.id]) is not None]
    if not values:
        return "–"
    mean = sum(values) / len(values)
    digits = one.digits
    return f"{mean:.{digits}f}  ({min(values):.{digits}f} – {max(values):.{digits}f})"


def number_in_words(one: Statistic, measured: HeadStatistics, trace: Trace, head: Head) -> str:
    """Format the number of one head, with unit and limit."""
    bare = number(one, measured)
    if measured[one.id] is None:
        return bare
    if one.id == "entropy":
        return f"{bare} of {measured.entropy_limit:.2f} bits"
    if one.id == "sink":
        key = trace.key_tokens(head.kind)[measured.sink_key]
        return f"{isolated(display_text(key))} {bare}"
    return f"{bare} {one.unit}".rstrip()


def ranked(
    heads: Sequence[Head], by: Statistic, measured: Mapping[Head, HeadStatistics]
) -> list[Head]:
    """Sort heads best first; equal ones, and all of a kind that has no such statistic, stay as they
    are."""
    sign = 1 if by.lowest_first else -1
    return sorted(heads, key=lambda head: sign * (measured[head][by.id] or 0.0))
