"""Columns of a position table as curves over position."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from transformer_viz.drawing.extent import Extent, region_brush, regions
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.labels import label_step
from transformer_viz.drawing.numbers import signed
from transformer_viz.theme import GRID, Theme, scaled_font

MARGIN = 4 * GRID
_SWATCH = 6 * GRID


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve over positions; `values`: [n] of positions 0 … n − 1, `label`: for the legend,
    `slot`: its colour."""

    values: np.ndarray
    label: str
    slot: int

    def pen(self, theme: Theme) -> QPen:
        cap = Qt.PenCapStyle.SquareCap
        return QPen(head_color(theme, self.slot), 2, Qt.PenStyle.SolidLine, cap)


@dataclass(frozen=True, slots=True)
class PlotLayout:
    """The places in a plot; `plot`: where the curves are, `columns`: the columns of the legend
    above."""

    plot: QRectF
    shown: int
    columns: int
    legend_top: float

    def x(self, position: float) -> float:
        return self.plot.left() + position / max(1, self.shown - 1) * self.plot.width()

    def position_at(self, x: float) -> int | None:
        position = round((x - self.plot.left()) / self.plot.width() * max(1, self.shown - 1))
        return position if 0 <= position < self.shown else None


def lay_out_plot(rect: QRectF, curves: Sequence[Curve], extent: Extent, font: QFont) -> PlotLayout:
    """The legend in as few lines as it takes, the plot below."""
    small = QFontMetricsF(scaled_font(font, 0.85))
    left = MARGIN + small.horizontalAdvance("−0.00") + 2 * GRID
    widest = max((_legend_width(curve, font) for curve in curves), default=1.0)
    columns = max(1, min(len(curves), int((rect.width() - left - MARGIN) / widest)))
    line = QFontMetricsF(font).height() + GRID
    legend = math.ceil(len(curves) / columns) * line + GRID
    marks = len(extent.marks()) * (small.height() + GRID)
    bottom = small.height() + 2 * GRID + MARGIN
    plot = rect.adjusted(left, legend + marks, -MARGIN, -bottom)
    return PlotLayout(plot, extent.shown, columns, rect.top())


def draw_plot(
    painter: QPainter,
    curves: Sequence[Curve],
    extent: Extent,
    layout: PlotLayout,
    theme: Theme,
    font: QFont,
) -> None:
    """Draw everything but the legend."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    plot = layout.plot
    limit = max((float(np.abs(curve.values).max()) for curve in curves), default=1.0) or 1.0
    for start, stop in regions(extent):
        brush = region_brush(extent, start, theme, plot.topLeft())
        if brush is not None:
            left, right = layout.x(start), layout.x(min(stop, extent.shown - 1))
            painter.fillRect(QRectF(left, plot.top(), right - left, plot.height()), brush)
    _draw_scales(painter, layout, limit, theme, font)
    _draw_marks(painter, layout, extent, theme, font)
    for curve in curves:
        heights = plot.center().y() - curve.values / limit * plot.height() / 2
        points = [QPointF(layout.x(at), y) for at, y in enumerate(heights.tolist())]
        painter.setPen(curve.pen(theme))
        # Lines one by one: Qt takes many times as long over one path that crosses itself.
        painter.drawLines([QLineF(*ends) for ends in pairwise(points)])
    painter.restore()


def draw_reading(
    painter: QPainter,
    curves: Sequence[Curve],
    layout: PlotLayout,
    theme: Theme,
    font: QFont,
    focus: int | None,
) -> None:
    """The legend, with the values at the position in focus and a line there."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    plot = layout.plot
    if focus is not None:
        painter.setPen(QPen(theme.color("accent"), 1))
        x = layout.x(focus)
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
    painter.setFont(font)
    line = QFontMetricsF(font).height()
    width = plot.width() / layout.columns
    for index, curve in enumerate(curves):
        left = plot.left() + index % layout.columns * width
        top = layout.legend_top + index // layout.columns * (line + GRID)
        painter.setPen(curve.pen(theme))
        y = top + line / 2
        painter.drawLine(QPointF(left, y), QPointF(left + _SWATCH, y))
        text = curve.label
        if focus is not None and focus < len(curve.values):
            text += f": {signed(float(curve.values[focus]))}"
        painter.setPen(theme.color("ink"))
        box = QRectF(left + _SWATCH + 2 * GRID, top, width - _SWATCH - 2 * GRID, line)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
    painter.restore()


def _draw_scales(
    painter: QPainter, layout: PlotLayout, limit: float, theme: Theme, font: QFont
) -> None:
    plot = layout.plot
    small = scaled_font(font, 0.85)
    metrics = QFontMetricsF(small)
    line = metrics.height()
    painter.setFont(small)
    for share in (-1.0, -0.5, 0.0, 0.5, 1.0):
        y = plot.center().y() - share * plot.height() / 2
        painter.setPen(QPen(theme.color("line" if share else "border"), 1))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(theme.color("soft"))
        box = QRectF(0, y - line / 2, plot.left() - 2 * GRID, line)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, right, signed(share * limit, 1 if limit >= 0.95 else 2))
    digits = metrics.horizontalAdvance(str(layout.shown))
    pitch = plot.width() / max(1, layout.shown - 1)
    for position in range(0, layout.shown, label_step(pitch, 3 * digits)):
        x = layout.x(position)
        painter.drawLine(QPointF(x, plot.bottom()), QPointF(x, plot.bottom() + GRID))
        box = QRectF(x - digits, plot.bottom() + GRID, 2 * digits, line)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(position))
    below = QRectF(plot.left(), plot.bottom() + GRID + line, plot.width(), line)
    painter.drawText(below, Qt.AlignmentFlag.AlignRight, "position →")


def _draw_marks(
    painter: QPainter, layout: PlotLayout, extent: Extent, theme: Theme, font: QFont
) -> None:
    """A line for each mark, its name above the plot, each on a line of its own."""
    plot = layout.plot
    painter.setFont(scaled_font(font, 0.85))
    metrics = QFontMetricsF(painter.font())
    pitch = metrics.height() + GRID
    for number, mark in enumerate(reversed(extent.marks())):
        x = layout.x(mark.position)
        top = plot.top() - (number + 1) * pitch
        painter.setPen(QPen(theme.color(mark.token), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, top), QPointF(x, plot.bottom()))
        width = metrics.horizontalAdvance(mark.text)
        left = min(x + GRID, plot.right() - width)
        if x + GRID > left:
            left = x - GRID - width
        painter.setPen(theme.color(mark.token))
        painter.drawText(QRectF(left, top, width + 1, metrics.height()), 0, mark.text)


def _legend_width(curve: Curve, font: QFont) -> float:
    text = QFontMetricsF(font).horizontalAdvance(f"{curve.label}: −0.00")
    return _SWATCH + 2 * GRID + text + 4 * GRID
