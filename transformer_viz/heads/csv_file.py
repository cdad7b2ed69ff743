"""Measured heads as CSV (RFC 4180), UTF-8, lines end at \\n; numbers in full."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from transformer_viz.heads.report import MeasuredHead, Role

_ROLE = ("role", "score", "baseline", "threshold", "passed")


def to_csv(heads: Sequence[MeasuredHead]) -> str:
    """A line for each head: layer and head from 0 as in the JSON, its statistics, and each role
    that some head was measured for with score, baseline, threshold and verdict."""
    statistics = list(dict.fromkeys(name for each in heads for name in each.statistics))
    sorts = list(dict.fromkeys(role.sort for each in heads for role in each.roles))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    claims = [f"{sort} {field}" for sort in sorts for field in _ROLE]
    writer.writerow(["kind", "layer", "head", *statistics, *claims])
    for each in heads:
        kind, layer, head = each.head
        cells = [cell for sort in sorts for cell in _cells(each.role(sort))]
        numbers = [each.statistics.get(name) for name in statistics]
        writer.writerow([kind.value, layer, head, *numbers, *cells])
    return text.getvalue()


def _cells(role: Role | None) -> list[str | float | bool | None]:
    if role is None:
        return [None] * len(_ROLE)
    return [role.name, role.score, role.baseline, role.threshold, role.passed]
