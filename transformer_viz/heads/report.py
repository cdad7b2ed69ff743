"""What `transformer-viz heads --json` has found, as values."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.analysis.head_csv import HeadRow, Verdict
from core.statistics.registry import EFFECT, IMPORTANCE, current_id
from core.trace.trace import AttentionKind, Head

_HEADS = re.compile(r'"heads": \[')
_ALIGNMENT = '"alignment": ['


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that a claim about a head was measured on.

    Attributes:
        source, target: the sentence and the translation that the decoder was given.
        query, key: the cell of the head's map that the claim is about.
        score: of this sentence alone.
        query_span, key_span: the words of the cell, [start, end) characters of the text that they
            stand in; None for special tokens.
    """

    source: str
    target: str
    query: int
    key: int
    score: float
    query_span: tuple[int, int] | None = None
    key_span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Role:
    """A claim about a head, passed where the rules of `core.analysis.verdict` hold.

    Attributes:
        name: as in the JSON, such as "positional(-1)" or "gold:coreference".
        sort: the name without the offset, which differs from head to head.
        baseline: what a head scores that spreads its weight evenly, of gold roles one that always
            looks ``offset`` words away.
        cases: how many rows, links or sentences the score is over.
        lower: the lower end of the score's 95% interval; None in a report of an older version.
        weight: the mean weight on what is looked at; None where the score is a weight itself, and
            in a report of an older version.
        explained_by: the name of a more general role of the head that accounts for this one.
        on: the token of a sink.
        rows: of roles that are not gold, how many rows were counted.
        direction: of gold roles, "forward" from the word that needs the other one, or "backward".
        reading: of gold roles in the decoder, the word that a row was taken for: "fed" or
            "predicted".
        links: of gold roles, how many there were.
        best, worst: the sentences that show it best and worst.
    """

    name: str
    sort: str
    score: float
    baseline: float
    threshold: float
    passed: bool
    cases: int | None
    lower: float | None
    weight: float | None
    explained_by: str
    on: str
    rows: int | None
    direction: str
    reading: str
    links: int | None
    offset: int | None
    best: tuple[Evidence, ...]
    worst: tuple[Evidence, ...]

    @property
    def outdated(self) -> bool:
        """Whether an older version measured it, which did not ask for weight."""
        return self.lower is None


@dataclass(frozen=True, slots=True)
class MeasuredHead:
    """What was measured of one head.

    Attributes:
        statistics: by the ids of `core.statistics.registry`, without those that this kind of
            attention does not have.
        passed: the roles that it has, the one farthest above its threshold first.
    """

    head: Head
    statistics: Mapping[str, float]
    roles: tuple[Role, ...]
    passed: tuple[Role, ...]

    def role(self, sort: str) -> Role | None:
        return next((role for role in self.roles if role.sort == sort), None)

    @property
    def csv_row(self) -> HeadRow:
        verdicts = [
            Verdict(
                one.name,
                one.score,
                one.lower,
                one.weight,
                one.baseline,
                one.threshold,
                one.passed,
            )
            for one in self.roles
        ]
        return HeadRow(self.head, self.statistics, verdicts)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The alignment error rates of cross-attention by one reading of its rows.

    Attributes:
        best: the head that aligns best, and its rate.
        layers: of the mean map of each layer; None for a layer without heads.
        diagonal: of linking each word to the one at the same share of the sentence.
    """

    best: Head
    error: float
    layers: tuple[float | None, ...]
    diagonal: float


@dataclass(frozen=True, eq=False)
class Report:
    """What was measured of all heads; ``alignments`` is by the name of the statistic that the heads
    have of the same kind, and empty where the corpus has no gold."""

    heads: Mapping[Head, MeasuredHead]
    alignments: Mapping[str, Alignment] = field(default_factory=dict)

    def __iter__(self) -> Iterator[MeasuredHead]:
        return iter(self.heads.values())

    @cached_property
    def statistics(self) -> tuple[str, ...]:
        """The names of all statistics that some head has, in the order in which they come."""
        return tuple(dict.fromkeys(name for each in self for name in each.statistics))

    @cached_property
    def sorts(self) -> Mapping[str, int]:
        """The sorts of roles that some head was measured for, and how many heads pass."""
        counts = {role.sort: 0 for each in self for role in each.roles}
        for each in self:
            for role in each.passed:
                counts[role.sort] += 1
        return counts


def read_head(value: Any) -> MeasuredHead:
    """One of the ``heads`` of the JSON. Raises ValueError if it is not as documented."""
    try:
        head = Head(AttentionKind(value["kind"]), int(value["layer"]), int(value["head"]))
        numbers = dict(_numbers(value["statistics"]))
        numbers |= {one.id: float(value[one.id]) for one in (IMPORTANCE, EFFECT) if one.id in value}
        roles = tuple(_role(role) for role in value["roles"])
        passed = [role for role in roles if role.passed]
        passed.sort(key=lambda role: role.threshold - (role.lower or role.score))
        return MeasuredHead(head, numbers, roles, tuple(passed))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a measured head: {error}") from error


def read_heads(text: str) -> Iterator[dict[str, Any]]:
    """The ``heads`` of the JSON, one after the other, as a whole it would keep the interpreter for
    long. Raises ValueError if it is not as documented."""
    decoder = json.JSONDecoder()
    found = _HEADS.search(text)
    if found is None:
        raise ValueError("no heads")
    place = found.end()
    while text.startswith("{", place):
        head, place = decoder.raw_decode(text, place)
        yield head
        place += len(", ") * text.startswith(", ", place)
    if not text.startswith("]", place):
        raise ValueError("the heads do not end")


def read_alignments(values: Sequence[Any]) -> Mapping[str, Alignment]:
    """The ``alignment`` of the JSON. Raises ValueError if it is not as documented."""
    try:
        return {
            f"alignment_error_{value['reading']}": Alignment(
                best=Head(AttentionKind.CROSS, value["best"]["layer"], value["best"]["head"]),
                error=float(value["best"]["error"]),
                layers=tuple(None if one is None else float(one) for one in value["layers"]),
                diagonal=float(value["diagonal"]),
            )
            for value in values
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not an alignment: {error}") from error


def alignment_values(text: str) -> list[Any]:
    """The ``alignment`` of the JSON, [] where there is none: it stands after the heads."""
    place = text.rfind(_ALIGNMENT)
    if place < 0:
        return []
    values: list[Any]
    values, _end = json.JSONDecoder().raw_decode(text, place + len(_ALIGNMENT) - 1)
    return values


def _numbers(statistics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in statistics.items():
        if isinstance(value, Mapping):
            yield from ((current_id(f"{name} {at}"), float(each)) for at, each in value.items())
        elif isinstance(value, int | float):
            yield current_id(name), float(value)


def _role(value: Mapping[str, Any]) -> Role:
    name = sys.intern(str(value["role"]))
    lower, weight = value.get("lower"), value.get("weight")
    rows, links = _optional(value.get("rows")), _optional(value.get("links"))
    cases = _optional(value.get("cases"))
    return Role(
        name=name,
        sort=sys.intern(name.partition("(")[0]),
        score=float(value["score"]),
        baseline=float(value["baseline"]),
        threshold=float(value["threshold"]),
        passed=bool(value["passed"]) and lower is not None,
        cases=cases if cases is not None else rows if links is None else links,
        lower=None if lower is None else float(lower),
        weight=None if weight is None else float(weight),
        explained_by=sys.intern(str(value.get("explained_by", ""))),
        on=str(value.get("on", "")),
        rows=rows,
        direction=str(value.get("direction", "")),
        reading=str(value.get("reading", "")),
        links=links,
        offset=_optional(value.get("offset")),
        best=tuple(_evidence(each) for each in value["best"]),
        worst=tuple(_evidence(each) for each in value["worst"]),
    )


def _evidence(value: Mapping[str, Any]) -> Evidence:
    return Evidence(
        source=sys.intern(str(value["source"])),
        target=sys.intern(str(value["target"])),
        query=int(value["query"]),
        key=int(value["key"]),
        score=float(value["score"]),
        query_span=_span(value.get("query_span")),
        key_span=_span(value.get("key_span")),
    )


def _span(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    start, end = value
    return int(start), int(end)


def _optional(value: Any) -> int | None:
    return None if value is None else int(value)
