"""One measured figure, beside what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass


class UnavailableError(Exception):
    """What a benchmark lacks on this machine."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its unit; with a peer and the ratio to it; with the target it must meet.

    `ratio` says how many times better than `peer` this is: 1.5 for a time means 1.5 times as
    fast. `target` is a comparison with `value`, or with `ratio` where there is one: "< 1000",
    ">= 1.5".
    """

    name: str
    value: float
    unit: str
    ratio: float | None = None
    peer: str | None = None
    target: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        sign, bound = self.target.split()
        figure = self.value if self.ratio is None else self.ratio
        return figure < float(bound) if sign == "<" else figure >= float(bound)


def table(figures: list[Figure]) -> str:
    """The figures as aligned lines of text."""
    header = ("figure", "value", "unit", "ratio", "against", "target", "")
    rows = [header, *map(_row, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = {1, 3}
    lines = [
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        f"{figure.value:,.{1 if abs(figure.value) < 100 else 0}f}",
        figure.unit,
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        figure.peer or "",
        figure.target or "",
        {None: "", True: "met", False: "MISSED"}[figure.met],
    )
