"""Seconds that kernels take on a machine, and which kernels follow from them; without torch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from core.model.product_choice import (
    COLUMNS,
    KERNELS,
    MKL_PACKED,
    ONEDNN,
    ONEDNN_PACKED,
    ROWS,
    TORCH,
    UNMEASURED,
    ProductChoice,
)

Table: TypeAlias = list[dict[str, float]]
"""Seconds by kernel, for each of the first numbers of rows, in the order of ``ROWS``."""

TIMED_ROWS = {"small": ROWS, "large": ROWS[:-1], "training": ROWS[-1:]}
"""The numbers of rows that each table is about; a large W with the most rows is not timed."""

_GAIN = 0.95  # of the time: what another kernel, or number of threads, has to save to be taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """The seconds that products took.

    Attributes:
        threads, training_threads: of a few products, by the number of threads; None if not known.
        small, large: of a product with a small or a large W; rows that are missing are not known.
        training: of a product and its two gradients.
    """

    threads: dict[int, float] | None = None
    training_threads: dict[int, float] | None = None
    small: Table = field(default_factory=list)
    large: Table = field(default_factory=list)
    training: Table = field(default_factory=list)

    @property
    def complete(self) -> bool:
        known = self.threads is not None and self.training_threads is not None
        return known and not any(map(self.missing_rows, TIMED_ROWS))

    def missing_rows(self, table: str) -> tuple[int, ...]:
        """The numbers of rows of one of ``TIMED_ROWS`` that are not known yet."""
        return TIMED_ROWS[table][len(getattr(self, table)) :]

    @property
    def best_threads(self) -> int | None:
        return None if self.threads is None else _best(self.threads, max(self.threads))

    @property
    def best_training_threads(self) -> int | None:
        seconds = self.training_threads
        return None if seconds is None else _best(seconds, max(seconds))

    def with_(self, **parts: Any) -> Timings:
        """A copy with these parts known."""
        return dataclasses.replace(self, **parts)

    def with_row(self, table: str, seconds: dict[str, float]) -> Timings:
        """A copy in which the first missing row of this table is known."""
        return self.with_(**{table: [*getattr(self, table), seconds]})

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Timings:
        """Raises ValueError for what ``to_dict`` does not write."""
        try:
            return cls(
                threads=_by_threads(values["threads"]),
                training_threads=_by_threads(values["training_threads"]),
                **{name: _table(values[name], len(rows)) for name, rows in TIMED_ROWS.items()},
            )
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError("these are no timings") from error


def choice_of(timings: Timings, present: Collection[str]) -> ProductChoice:
    """The fastest of the kernels that are present; what is not known stays ``UNMEASURED``."""
    choice = dataclasses.replace(
        UNMEASURED, threads=timings.best_threads, training_threads=timings.best_training_threads
    )
    if not timings.missing_rows("training"):
        (seconds,) = _only(timings.training, present)
        choice = dataclasses.replace(choice, training=_best(seconds, TORCH))
    if not timings.missing_rows("small") and not timings.missing_rows("large"):
        small, large = _only(timings.small, present), _only(timings.large, present)
        choice = dataclasses.replace(choice, **_inference(small, large))
    return choice


def _inference(small: Table, large: Table) -> dict[str, Any]:
    """The layout and the packed kernel (a single one, for the sake of memory) that together take
    the smallest share of torch's time, and of these what is fastest for each number of rows."""
    candidates = [
        (layout, [*plain, *packed])
        for layout in (COLUMNS, TORCH)
        for plain in ([], [ONEDNN])
        for packed in ([], [MKL_PACKED], [ONEDNN_PACKED])
    ]

    def seen(seconds: Mapping[str, float], layout: str, names: list[str]) -> dict[str, float]:
        """With W stored in this layout."""
        others = {name: seconds[name] for name in names if name in seconds}
        return {TORCH: seconds.get(layout, seconds[TORCH]), **others}

    def share(candidate: tuple[str, list[str]]) -> float:
        return sum(
            min(seen(seconds, *candidate).values()) / seconds[TORCH] for seconds in (*small, *large)
        )

    layout, names = min(candidates, key=share)
    fastest = [
        tuple(_best(seen(seconds, layout, names), TORCH) for seconds in table)
        for table in (small, large)
    ]
    return {
        "columns": layout == COLUMNS,
        "small": fastest[0],
        "large": (*fastest[1], fastest[1][-1]),
    }


def _best(seconds: Mapping[Any, float], usual: Any) -> Any:
    """The key with the fewest seconds; the usual one unless another gains."""
    fastest = min(seconds, key=seconds.__getitem__)
    return fastest if seconds[fastest] < _GAIN * seconds[usual] else usual


def agree(one: Mapping[Any, float], other: Mapping[Any, float]) -> bool:
    """Whether two measurements of the same keys differ by less than what decides a choice."""
    pairs = [(one[key], other[key]) for key in one]
    return all(_GAIN * max(pair) <= min(pair) < math.inf for pair in pairs)


def _only(table: Table, present: Collection[str]) -> Table:
    return [{name: seconds for name, seconds in row.items() if name in present} for row in table]


def _by_threads(values: Any) -> dict[int, float] | None:
    if values is None:
        return None
    threads = {int(count): _seconds(seconds) for count, seconds in values.items()}
    if min(threads, default=0) < 1:
        raise ValueError("these are no threads")
    return threads


def _table(rows: Any, most: int) -> Table:
    table = [{str(name): _seconds(value) for name, value in row.items()} for row in rows]
    if len(table) > most or any(TORCH not in row or set(row) - set(KERNELS) for row in table):
        raise ValueError("these are no times of kernels")
    return table


def _seconds(value: Any) -> float:
    if not isinstance(value, float) or not 0 < value < 1e3:
        raise ValueError("these are no seconds")
    return value
