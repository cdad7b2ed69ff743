"""Where the parts of a chart are: its lines, the window onto them, the plot and the legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from transformer_viz.drawing.axis import AxisScale, places
from transformer_viz.theme import GRID, scaled_font

MARGIN = 4 * GRID
SWATCH = 6 * GRID
_WIDEST_NUMBER = "−88,888.8"
_HEADROOM = 0.05  # of the plot, above and below what is fitted

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of a chart.

    Attributes:
        x: [n] steps, ascending.
        y: [n] values; NaN leaves a gap.
        slot: its colour, as of heads.
        raw: [n] values before smoothing, drawn faintly behind.
        dots: mark each point, as of values that are measured now and then.
    """

    x: Floats
    y: Floats
    label: str
    slot: int
    raw: Floats | None = None
    dots: bool = False

    def nearest(self, x: float) -> int:
        """The point closest to a step."""
        after = min(int(np.searchsorted(self.x, x)), len(self.x) - 1)
        before = max(0, after - 1)
        return before if x - self.x[before] <= self.x[after] - x else after


@dataclass(frozen=True, slots=True)
class Mark:
    """A dashed line across the plot, with its name: at a step if `upright`, else at a value."""

    value: float
    text: str
    upright: bool


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the plane that is shown, in places on its two axes."""

    x_scale: AxisScale
    y_scale: AxisScale
    left: float
    right: float
    bottom: float
    top: float

    def moved(self, dx: float, dy: float) -> Window:
        """Return the window moved by shares of its width and height."""
        dx *= self.right - self.left
        dy *= self.top - self.bottom
        return replace(
            self,
            left=self.left + dx,
            right=self.right + dx,
            bottom=self.bottom + dy,
            top=self.top + dy,
        )

    def zoomed(self, across: float, up: float, x: float, y: float) -> Window:
        """Return the window magnified, with the place at the shares (x, y) from the lower left
        where it was."""
        width, height = (self.right - self.left) / across, (self.top - self.bottom) / up
        left = self.left + x * (self.right - self.left) - x * width
        bottom = self.bottom + y * (self.top - self.bottom) - y * height
        return replace(self, left=left, right=left + width, bottom=bottom, top=bottom + height)


def fitted(
    lines: Sequence[Line],
    x_scale: AxisScale,
    y_scale: AxisScale,
    y_range: tuple[float, float] | None = None,
) -> Window:
    """Return a window with all points of all lines; `y_range` gives the natural limits of the
    values, if any."""
    xs = [places(line.x, x_scale) for line in lines]
    ys = [places(values, y_scale) for line in lines for values in _drawn(line)]
    left, right = _ends(xs)
    if y_range is not None:
        bottom, top = (float(place) for place in places(y_range, y_scale))
    else:
        bottom, top = _ends(ys)
        room = _HEADROOM * (top - bottom)
        bottom, top = bottom - room, top + room
    return Window(x_scale, y_scale, left, right, bottom, top)


def _drawn(line: Line) -> list[Floats]:
    return [line.y] if line.raw is None else [line.y, line.raw]


def _ends(parts: Sequence[Floats]) -> tuple[float, float]:
    """The least and the greatest; never the same."""
    finite = np.concatenate([part[np.isfinite(part)] for part in parts] or [np.zeros(0)])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if high - low < 1e-12 * max(1.0, abs(high)):
        room = 0.05 * abs(high) or 0.5
        low, high = low - room, high + room
    return low, high


@dataclass(frozen=True, slots=True)
class ChartLayout:
    """The places in a chart; `plot`: where the lines are, `columns`: the columns of the legend
    above."""

    plot: QRectF
    columns: int
    legend_top: float

    def x(self, place: Floats | float, window: Window) -> Floats:
        share = (np.asarray(place) - window.left) / (window.right - window.left)
        pixels: Floats = self.plot.left() + share * self.plot.width()
        return pixels

    def y(self, place: Floats | float, window: Window) -> Floats:
        share = (np.asarray(place) - window.bottom) / (window.top - window.bottom)
        pixels: Floats = self.plot.bottom() - share * self.plot.height()
        return pixels

    def shares(self, point: QPointF) -> tuple[float, float]:
        """Return shares of the plot's width and height, from its lower left corner."""
        plot = self.plot
        across = (point.x() - plot.left()) / plot.width()
        return across, (plot.bottom() - point.y()) / plot.height()


def lay_out_chart(rect: QRectF, lines: Sequence[Line], font: QFont) -> ChartLayout:
    """The legend in as few rows as it takes, the plot below."""
    small = QFontMetricsF(scaled_font(font, 0.85))
    left = MARGIN + small.horizontalAdvance(_WIDEST_NUMBER) + GRID
    room = rect.width() - left - MARGIN
    widest = max((_legend_width(line, font) for line in lines), default=1.0)
    columns = max(1, min(len(lines), int(room / widest)))
    legend = math.ceil(len(lines) / columns) * legend_pitch(font) + 2 * GRID
    bottom = 2 * small.height() + 2 * GRID
    plot = rect.adjusted(left, legend, -MARGIN, -bottom)
    plot.setHeight(max(plot.height(), 8.0 * GRID))
    return ChartLayout(plot, columns, rect.top())


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the first, the lowest, the highest and the last of the points that share a column of
    pixels: the same picture, in a time that depends on its width."""
    columns = np.floor(x)
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    if len(x) <= 4 * len(starts):
        return x, y
    stops = np.append(starts[1:], len(x)) - 1
    lowest = np.fmin.reduceat(y, starts)
    highest = np.fmax.reduceat(y, starts)
    heights = np.stack([y[starts], lowest, highest, y[stops]], axis=1).ravel()
    across = np.stack([x[starts], x[starts], x[stops], x[stops]], axis=1).ravel()
    return across, heights


def legend_pitch(font: QFont) -> float:
    return QFontMetricsF(font).height() + GRID


def _legend_width(line: Line, font: QFont) -> float:
    text = QFontMetricsF(font).horizontalAdvance(f"{line.label}: 88.888 at 888,888")
    return SWATCH + 2 * GRID + text + 4 * GRID
