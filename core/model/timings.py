"""Seconds that kernels take on a machine, and which kernels follow from them; without torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
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
"""For each number of rows, seconds by kernel."""

_GAIN = 0.95  # of the time: what another kernel, or number of threads, has to save to be taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds; None for what is not known.

    Attributes:
        threads, training_threads: of a few products, by the number of threads.
        small, large: of a product with a small or a large W, by the number of rows; a large one
            with the most rows is not timed.
        training: of a product and its two gradients; one row.
    """

    threads: dict[int, float] | None = None
    training_threads: dict[int, float] | None = None
    small: Table | None = None
    large: Table | None = None
    training: Table | None = None

    @property
    def complete(self) -> bool:
        return all(value is not None for value in self.to_dict().values())

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

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Timings:
        """Raises ValueError for what ``to_dict`` does not write."""
        try:
            return cls(
                threads=_by_threads(values["threads"]),
                training_threads=_by_threads(values["training_threads"]),
                small=_table(values["small"], len(ROWS)),
                large=_table(values["large"], len(ROWS) - 1),
                training=_table(values["training"], 1),
            )
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError("these are no timings") from error


def choice_of(timings: Timings, present: Collection[str]) -> ProductChoice:
    """The fastest of the kernels that are present; what is not known stays ``UNMEASURED``."""
    choice = dataclasses.replace(
        UNMEASURED, threads=timings.best_threads, training_threads=timings.best_training_threads
    )
    if timings.training is not None:
        (seconds,) = _only(timings.training, present)
        choice = dataclasses.replace(choice, training=_best(seconds, TORCH))
    if timings.small is not None and timings.large is not None:
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
    fastest = min(seconds, key=lambda key: seconds[key])
    return fastest if seconds[fastest] < _GAIN * seconds[usual] else usual


def _only(table: Table, present: Collection[str]) -> Table:
    return [{name: seconds for name, seconds in row.items() if name in present} for row in table]


def _by_threads(values: Any) -> dict[int, float] | None:
    if values is None:
        return None
    threads = {int(count): _seconds(seconds) for count, seconds in values.items()}
    if min(threads, default=0) < 1:
        raise ValueError("these are no threads")
    return threads


def _table(rows: Any, count: int) -> Table | None:
    if rows is None:
        return None
    table = [{str(name): _seconds(value) for name, value in row.items()} for row in rows]
    if len(table) != count or any(TORCH not in row or set(row) - set(KERNELS) for row in table):
        raise ValueError("these are no times of kernels")
    return table


def _seconds(value: Any) -> float:
    if not isinstance(value, float) or not 0 < value < 1e3:
        raise ValueError("these are no seconds")
    return value
