"""What a line plot shows: lines over a common axis, marks and shaded parts, and their range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from transformer_viz.drawing.axis import AxisScale, places
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.numbers import compact, position
from transformer_viz.drawing.theme import Theme

_HEADROOM = 0.05  # of the range of values, above and below

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line with its name and its look.

    Attributes:
        x: [n], ascending.
        y: [n] values; NaN leaves a gap.
        color: a colour of heads by its number, or a token of the theme.
        raw: [n] values before smoothing, drawn faintly behind.
        dots: mark each point, as of values that are measured now and then.
        dashed: the line is a reference.
        scattered: the points alone, without a line between them.
        band: [n, 2], the ends of an interval around each value.
        suffix: the unit behind a value that is read off.
    """

    x: Floats
    y: Floats
    label: str
    color: int | str
    raw: Floats | None = None
    dots: bool = False
    dashed: bool = False
    band: Floats | None = None
    suffix: str = ""
    scattered: bool = False

    def nearest(self, x: float) -> int:
        """Return the index of the point closest to `x`."""
        after = min(int(np.searchsorted(self.x, x)), len(self.x) - 1)
        before = max(0, after - 1)
        return before if x - self.x[before] <= self.x[after] - x else after

    def reading(self, x: float) -> str:
        """Return the value at `x` in words, or that of the closest point with its place."""
        if not len(self.x):
            return "–"
        at = self.nearest(x)
        value = float(self.y[at])
        text = "–" if math.isnan(value) else f"{compact(value)}{self.suffix}"
        return text if self.x[at] == x else f"{text} at {position(float(self.x[at]))}"

    def shade(self, theme: Theme) -> QColor:
        """Return the line's colour in a theme."""
        return (
            head_color(theme, self.color)
            if isinstance(self.color, int)
            else theme.color(self.color)
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """A dashed line across the plot with its name: at an x if `upright`, else at a value.

    `at`: how high an upright line has its name, as a share of the plot.
    """

    value: float
    text: str
    upright: bool
    token: str = "accent"
    at: float = 0.95


@dataclass(frozen=True, slots=True)
class Shaded:
    """A part of the x axis on a ground of its own: `hatched`, or plain in the colour `token`."""

    start: float
    stop: float
    token: str = "hover"
    hatched: bool = False


@dataclass(frozen=True, slots=True)
class Ticks:
    """A row of names along the x axis, one for each place 0, 1, 2, …; `title` says of what."""

    title: str
    texts: tuple[str, ...]


class Side(StrEnum):
    """Where a name stands, seen from its point."""

    LEFT = "left"
    RIGHT = "right"
    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Name:
    """A name beside a point of the plot."""

    x: float
    y: float
    text: str
    side: Side = Side.RIGHT
    token: str = "soft"


@dataclass(frozen=True, slots=True)
class Plot:
    """All that a line plot shows.

    Attributes:
        x_title, y_title: what the axes count, with their units.
        x_range, y_range: what is shown where that is not all of the lines.
        suffix: the unit behind each value on the y axis.
        whole: x counts something, so that no value between two numbers is marked.
        rows: names along the x axis in place of its numbers.
        names: names beside points.
    """

    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    shaded: tuple[Shaded, ...] = ()
    x_title: str = ""
    y_title: str = ""
    x_scale: AxisScale = AxisScale.LINEAR
    y_scale: AxisScale = AxisScale.LINEAR
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    suffix: str = ""
    whole: bool = True
    rows: tuple[Ticks, ...] = ()
    names: tuple[Name, ...] = ()

    def steps(self) -> Floats:
        """Return every x that some line has, ascending."""
        return np.unique(np.concatenate([line.x for line in self.lines] or [np.zeros(0)]))

    def range(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of x and of y, in places on their axes, that show all of the lines."""
        if self.rows:
            across = (-0.5, len(self.rows[0].texts) - 0.5)
        elif self.x_range is not None:
            first, last = (float(place) for place in places(self.x_range, self.x_scale))
            across = (first, last)
        else:
            across = _ends([places(line.x, self.x_scale) for line in self.lines])
        if self.y_range is not None:
            low, high = (float(place) for place in places(self.y_range, self.y_scale))
            return across, (low, high)
        low, high = _ends([places(values, self.y_scale) for values in self._drawn()])
        room = _HEADROOM * (high - low)
        return across, (low - room, high + room)

    def _drawn(self) -> list[Floats]:
        return [
            values for line in self.lines for values in (line.y, line.raw) if values is not None
        ]


def _ends(parts: Sequence[Floats]) -> tuple[float, float]:
    """Return the least and the greatest of all numbers, with room between them."""
    finite = np.concatenate([part[np.isfinite(part)] for part in parts] or [np.zeros(0)])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if high - low < 1e-12 * max(1.0, abs(high)):
        room = 0.05 * abs(high) or 0.5
        low, high = low - room, high + room
    return low, high
