"""The curves of accuracy by distance, aligned with the table of heads below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtGui import QFont

from transformer_viz.drawing.lines import Line, Mark, Plot, Shaded, Ticks
from transformer_viz.drawing.theme import GRID, grown
from transformer_viz.widgets.line_plot import LinePlot

MARGIN = 4 * GRID


@dataclass(frozen=True, slots=True)
class Distances:
    """The distances at which accuracy was measured.

    Attributes:
        inserted: words, for each distance.
        between: words between the two in all, on average.
        trained: the most between the two in training; None where that is not known.
    """

    inserted: tuple[int, ...]
    between: tuple[float, ...]
    trained: int | None


def share_line(
    name: str,
    shares: Sequence[float],
    token: str,
    *,
    dashed: bool = False,
    band: Sequence[tuple[float, float]] = (),
) -> Line:
    """Return a line of shares in percent, one for each distance."""
    return Line(
        np.arange(len(shares), dtype=float),
        100 * np.array(shares, dtype=float),
        name,
        token,
        dots=not dashed,
        dashed=dashed,
        band=100 * np.array(band, dtype=float) if band else None,
        suffix="%",
    )


def gutter(font: QFont) -> float:
    """Return the width left of the first distance: of the y axis, and of names in the table."""
    return grown(52 * GRID, font)


def column(width: float, count: int, number: int, font: QFont) -> tuple[float, float]:
    """Return the left edge and the width of a distance's column."""
    left = gutter(font)
    pitch = (width - left - MARGIN) / count
    return left + number * pitch, pitch


class ProbeCurves(LinePlot):
    """Has one place for each distance, as the steps between them double."""

    def __init__(self) -> None:
        super().__init__("Accuracy by distance", movable=False)
        self.distances: Distances | None = None

    def show_curves(self, distances: Distances | None, lines: Sequence[Line] = ()) -> None:
        """What was read off stays so."""
        self.distances = distances
        self.show_plot(Plot() if distances is None else _plot(distances, lines))

    def minimumSizeHint(self) -> QSize:
        return QSize(120 * GRID, round(grown(36 * GRID, self.font())))

    def margins(self) -> tuple[float, float]:
        return gutter(self.font()), MARGIN

    def name_of(self, x: float) -> str:
        assert self.distances is not None
        return f"{self.distances.inserted[round(x)]} inserted words"

    def describe(self) -> str:
        """Return all curves at the distance that is read off, or at every distance."""
        if self.distances is None:
            return ""
        places = range(len(self.distances.inserted)) if self.step is None else [self.step]
        return "; ".join(self.describe_at(float(place)) for place in places)


def _plot(distances: Distances, lines: Sequence[Line]) -> Plot:
    between, trained = distances.between, distances.trained
    marks: tuple[Mark, ...] = ()
    shaded: tuple[Shaded, ...] = ()
    if trained is not None and trained < between[-1]:
        start = float(np.interp(trained, between, np.arange(len(between)), left=-0.5))
        shaded = (Shaded(start, len(between) - 0.5),)
        marks = (Mark(start, "farther apart than in training", True, "soft", at=0.6),)
    return Plot(
        tuple(lines),
        marks,
        shaded,
        suffix="%",
        y_range=(0.0, 100.0),
        rows=(
            Ticks("inserted words", tuple(f"{words:,}" for words in distances.inserted)),
            Ticks("words between (mean)", tuple(f"{words:.0f}" for words in between)),
        ),
    )
