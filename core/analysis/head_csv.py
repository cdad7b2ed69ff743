"""Measured heads as CSV (RFC 4180), UTF-8, lines end at \\n; numbers in full."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.heads import Head


class Verdict(NamedTuple):
    """A role, and what was measured for it; ``lower`` and ``weight`` are None where a report of an
    older version lacks them, and ``weight`` where the score is a weight itself."""

    role: str
    score: float
    lower: float | None
    weight: float | None
    baseline: float
    threshold: float
    passed: bool

    @property
    def sort(self) -> str:
        """The name of the role without the offset, which differs from head to head."""
        return self.role.partition("(")[0]


class HeadRow(NamedTuple):
    head: Head
    statistics: Mapping[str, float | None]
    verdicts: Sequence[Verdict]


def heads_csv(heads: Sequence[HeadRow]) -> str:
    """A line for each head: its name, its kind, layer and head counted from 1 as in the window, the
    roles that it has, its statistics, and each sort of role that some head was measured for with
    all of its verdict."""
    statistics = list(dict.fromkeys(name for each in heads for name in each.statistics))
    sorts = list(dict.fromkeys(one.sort for each in heads for one in each.verdicts))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    of_sorts = [f"{sort} {field}" for sort in sorts for field in Verdict._fields]
    writer.writerow(["name", *Head._fields, "roles", *statistics, *of_sorts])
    for head, numbers, verdicts in heads:
        known = {one.sort: one for one in verdicts}
        nothing = [None] * len(Verdict._fields)
        writer.writerow(
            [
                *(head.name, head.kind.value, head.layer + 1, head.head + 1),
                " ".join(one.role for one in verdicts if one.passed),
                *(numbers.get(name) for name in statistics),
                *(value for sort in sorts for value in known.get(sort, nothing)),
            ]
        )
    return text.getvalue()
