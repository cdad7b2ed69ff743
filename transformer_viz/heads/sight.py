"""Which head shows the subject of a sample, in which cell, and what there is to see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.analysis.verdict import LEAST_WEIGHT
from core.counted import counted
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.numbers import percent
from transformer_viz.heads.here import Link, link_of, weight_on
from transformer_viz.heads.report import Report, Role
from transformer_viz.heads.wording import GOLD, sort_name
from transformer_viz.state.bundled import Subject
from transformer_viz.state.selection import Selection
from transformer_viz.words.wording import head_title

CLEAR = LEAST_WEIGHT
"""A head with less weight on the subject is not said to show it."""

MOST = 0.5
"""More weight than half of the row does not make a head the better one to look at."""


@dataclass(frozen=True, slots=True)
class Sight:
    """
    Attributes:
        selection: the head, with the cell pinned.
        text: what to see, in a sentence or two.
    """

    selection: Selection
    text: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    head: Head
    link: Link
    weight: float
    role: Role | None

    @property
    def lower(self) -> float:
        """The lower end of the interval of the score over the corpus."""
        return 0.0 if self.role is None or self.role.lower is None else self.role.lower


def sight(trace: Trace, subject: Subject, report: Report | None) -> Sight | None:
    """Of the heads that have the role and show it here the one with the highest score over the
    corpus; if none does, of all heads the one that puts the most weight on the subject. None where
    the translation lacks the words."""
    having = list(_candidates(trace, subject, report, with_role=True))
    found = having or list(_candidates(trace, subject, report, with_role=False))
    if not found:
        return None
    best = max(found, key=lambda one: (min(one.weight, MOST), one.lower, one.weight))
    return Sight(_selection(trace, best), _text(best, subject, report))


def _candidates(
    trace: Trace, subject: Subject, report: Report | None, *, with_role: bool
) -> Iterator[_Candidate]:
    for kind in trace.kinds:
        for head in trace.every_head(kind):
            role = None
            if with_role:
                measured = None if report is None else report.heads.get(head)
                role = None if measured is None else measured.role(GOLD + subject.relation)
                if role is None or not role.passed:
                    continue
            link = link_of(role, kind, trace, subject)
            if link is not None:
                yield _Candidate(head, link, weight_on(head, trace, link), role)


def _selection(trace: Trace, one: _Candidate) -> Selection:
    """The row that puts most there, and its heaviest piece of the word."""
    weights = np.array([trace.row(*one.head, row) for row in one.link.rows])
    keys = weights[:, one.link.keys.start : one.link.keys.stop]
    row, key = np.unravel_index(int(keys.argmax()), keys.shape)
    return Selection(*one.head, query=one.link.rows[int(row)], key=one.link.keys[int(key)])


def _text(best: _Candidate, subject: Subject, report: Report | None) -> str:
    start, end = subject.start, subject.end
    if best.role is not None and best.role.direction == "backward":
        start, end = end, start
    row = f"the row of “{start}”"
    if best.head.kind is AttentionKind.CROSS:
        row = f"the row of the German word for “{start}”"
    said = f"{head_title(best.head)}: {row} puts {best.weight:.2f} of its weight on “{end}”"
    if best.role is not None:
        cases = counted(best.role.cases or 0, "link")
        corpus = f"over the corpus it finds {percent(best.role.score)} of {cases}"
        if best.weight < CLEAR:
            return f"No head with this role shows it here. {said}; {corpus}."
        return f"{said}; {corpus}. {subject.hint}".rstrip()
    said += ", the most of all heads."
    if best.weight < CLEAR:
        return f"No head of this model shows it here. {said}"
    if report is None:
        return f"{said} Measure the heads to see whether it always does."
    name = sort_name(GOLD + subject.relation).short
    return f"{said} Over the corpus, the role “{name}” is not confirmed for any head."
