"""What `transformer-viz heads --json` has found, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.trace.trace import AttentionKind, Head

IMPORTANCE = "importance"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that a claim about a head was measured on.

    Attributes:
        source, target: the sentence and the translation that the decoder was given.
        query, key: the cell of the head's map that the claim is about.
        score: of this sentence alone.
    """

    source: str
    target: str
    query: int
    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Role:
    """A claim about a head, passed where a published threshold is reached.

    Attributes:
        baseline: what a rule that knows nothing of the sentence would score; None where the
            definition has none.
        best, worst: the sentences that show it best and worst.
    """

    name: str
    score: float
    baseline: float | None
    threshold: float | None
    passed: bool
    best: tuple[Evidence, ...]
    worst: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class MeasuredHead:
    """``statistics``: by their names in the JSON, those of offsets as "offset -1"; what the kind
    of attention has no such number of is left out."""

    head: Head
    statistics: Mapping[str, float]
    roles: tuple[Role, ...]

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)

    @property
    def passed(self) -> tuple[Role, ...]:
        """The roles that it has, the one farthest above its threshold first."""
        found = [role for role in self.roles if role.passed]
        return tuple(sorted(found, key=lambda role: -_margin(role)))


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    heads: Mapping[Head, MeasuredHead]

    def __iter__(self) -> Iterator[MeasuredHead]:
        return iter(self.heads.values())

    @property
    def statistics(self) -> tuple[str, ...]:
        """The names of all statistics that some head has, in the order in which they come."""
        return tuple(dict.fromkeys(name for each in self for name in each.statistics))

    @property
    def roles(self) -> tuple[str, ...]:
        """The names of all roles that some head was measured for."""
        return tuple(dict.fromkeys(role.name for each in self for role in each.roles))


def read_head(value: Any) -> MeasuredHead:
    """One of the ``heads`` of the JSON. Raises ValueError if it is not as documented."""
    try:
        head = Head(AttentionKind(value["kind"]), int(value["layer"]), int(value["head"]))
        numbers = dict(_numbers(value["statistics"]))
        if value.get(IMPORTANCE) is not None:
            numbers[IMPORTANCE] = float(value[IMPORTANCE])
        return MeasuredHead(head, numbers, tuple(_role(role) for role in value["roles"]))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a measured head: {error}") from error


def read_report(value: Any) -> Report:
    """The whole answer. Raises ValueError if it is not as documented."""
    if not isinstance(value, dict) or not isinstance(value.get("heads"), list):
        raise ValueError("not a report on heads")
    measured = [read_head(each) for each in value["heads"]]
    return Report({each.head: each for each in measured})


def _numbers(statistics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in statistics.items():
        if isinstance(value, Mapping):
            yield from ((f"offset {at}", float(share)) for at, share in value.items())
        elif isinstance(value, int | float):
            yield name, float(value)


def _role(value: Mapping[str, Any]) -> Role:
    return Role(
        name=str(value["role"]),
        score=float(value["score"]),
        baseline=_optional(value.get("baseline")),
        threshold=_optional(value.get("threshold")),
        passed=bool(value["passed"]),
        best=tuple(_evidence(each) for each in value["best"]),
        worst=tuple(_evidence(each) for each in value["worst"]),
    )


def _evidence(value: Mapping[str, Any]) -> Evidence:
    return Evidence(
        source=str(value["source"]),
        target=str(value["target"] or ""),
        query=int(value["query"]),
        key=int(value["key"]),
        score=float(value["score"]),
    )


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)


def _margin(role: Role) -> float:
    return role.score - (role.threshold or 0.0)
