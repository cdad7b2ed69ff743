"""Lines of measured numbers over steps: axes, lines, a legend that reads them off."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from transformer_viz.drawing.axis import AxisScale, places, tick_texts, ticks
from transformer_viz.drawing.chart_layout import (
    SWATCH,
    ChartLayout,
    Floats,
    Line,
    Mark,
    Window,
    legend_pitch,
    thinned,
)
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.numbers import compact
from transformer_viz.theme import GRID, Theme, scaled_font

_TICK_ROOM = 6 * GRID  # between two numbers of an axis, at least
_RAW = 0.3  # how strongly the line before smoothing is drawn


def draw_chart(
    painter: QPainter,
    lines: Sequence[Line],
    window: Window,
    layout: ChartLayout,
    theme: Theme,
    font: QFont,
    marks: Sequence[Mark] = (),
    unit: str = "",
) -> None:
    """Draw everything but the legend."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_axes(painter, window, layout, theme, font, unit)
    painter.setClipRect(layout.plot.adjusted(-GRID, -GRID, GRID, GRID))  # dots reach over it
    for line in lines:
        if line.raw is not None:
            faint = head_color(theme, line.slot)
            faint.setAlphaF(_RAW)
            _draw_line(painter, line.x, line.raw, window, layout, QPen(faint, 1))
    for line in lines:
        _draw_line(painter, line.x, line.y, window, layout, _pen(theme, line))
        if line.dots:
            _draw_dots(painter, line, window, layout, theme)
    painter.setClipping(False)
    _draw_marks(painter, marks, window, layout, theme, font)
    painter.restore()


def draw_reading(
    painter: QPainter,
    lines: Sequence[Line],
    window: Window,
    layout: ChartLayout,
    theme: Theme,
    font: QFont,
    step: float | None,
) -> None:
    """The legend, with the values at the step that is read off and a line there."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    plot = layout.plot
    if step is not None:
        x = float(layout.x(places(step, window.x_scale), window))
        if plot.left() - 1 <= x <= plot.right() + 1:
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            _draw_step(painter, x, step, layout, theme, font)
    painter.setFont(scaled_font(font, 1.0))
    metrics = QFontMetricsF(painter.font())
    width = plot.width() / layout.columns
    for index, line in enumerate(lines):
        left = plot.left() + index % layout.columns * width
        top = layout.legend_top + index // layout.columns * legend_pitch(font)
        y = top + metrics.height() / 2
        painter.setPen(_pen(theme, line))
        painter.drawLine(QPointF(left, y), QPointF(left + SWATCH, y))
        if line.dots:
            _dot(painter, QPointF(left + SWATCH / 2, y), theme, line)
        box = QRectF(left + SWATCH + 2 * GRID, top, width - SWATCH - 3 * GRID, metrics.height())
        text = f"{line.label}: {reading(line, step)}" if step is not None else line.label
        painter.setPen(theme.color("ink"))
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, elided)
    painter.restore()


def reading(line: Line, step: float) -> str:
    """The line's value at the step, or at the closest one that it has."""
    if not len(line.x):
        return "–"
    at = line.nearest(step)
    value = float(line.y[at])
    text = "–" if math.isnan(value) else compact(value)
    return text if line.x[at] == step else f"{text} at {line.x[at]:,.0f}"


def _pen(theme: Theme, line: Line) -> QPen:
    color = head_color(theme, line.slot)
    return QPen(color, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.RoundJoin)


def _draw_line(
    painter: QPainter, x: Floats, y: Floats, window: Window, layout: ChartLayout, pen: QPen
) -> None:
    across = layout.x(places(x, window.x_scale), window)
    up = layout.y(places(y, window.y_scale), window)
    plot = layout.plot
    start = max(0, int(np.searchsorted(across, plot.left())) - 1)
    stop = int(np.searchsorted(across, plot.right(), side="right")) + 1
    across, up = across[start:stop], up[start:stop]
    if not len(across):
        return
    across, up = thinned(across, up)
    up = np.clip(up, plot.top() - 1e4, plot.bottom() + 1e4)
    painter.setPen(pen)
    for part in np.split(np.arange(len(up)), np.flatnonzero(np.isnan(up))):
        inside = part[~np.isnan(up[part])]
        points = [QPointF(*at) for at in zip(across[inside], up[inside], strict=True)]
        if len(points) == 1:
            painter.drawPoint(points[0])
        elif points:
            painter.drawPolyline(QPolygonF(points))


def _draw_dots(
    painter: QPainter, line: Line, window: Window, layout: ChartLayout, theme: Theme
) -> None:
    across = layout.x(places(line.x, window.x_scale), window)
    up = layout.y(places(line.y, window.y_scale), window)
    last = -math.inf
    for x, y in zip(across, up, strict=True):
        if np.isfinite(y) and x - last >= 2 * GRID and layout.plot.contains(QPointF(x, y)):
            _dot(painter, QPointF(x, y), theme, line)
            last = x


def _dot(painter: QPainter, at: QPointF, theme: Theme, line: Line) -> None:
    painter.setPen(QPen(head_color(theme, line.slot), 1.5))
    painter.setBrush(theme.color("paper"))
    painter.drawEllipse(at, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_axes(
    painter: QPainter, window: Window, layout: ChartLayout, theme: Theme, font: QFont, unit: str
) -> None:
    plot = layout.plot
    small = scaled_font(font, 0.85)
    metrics = QFontMetricsF(small)
    height = metrics.height()
    painter.setFont(small)
    line, soft = theme.color("line"), theme.color("soft")
    rows = max(2, int(plot.height() / (1.6 * height)))
    values = ticks(window.bottom, window.top, window.y_scale, rows)
    across = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for value, text in zip(values, tick_texts(values), strict=True):
        y = float(layout.y(places(value, window.y_scale), window))
        painter.setPen(QPen(line, 1))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(soft)
        painter.drawText(QRectF(0, y - height / 2, plot.left() - 2 * GRID, height), across, text)
    columns = max(2, int(plot.width() / (metrics.horizontalAdvance("888,888") + _TICK_ROOM)))
    steps = ticks(window.left, window.right, window.x_scale, columns, least=1.0)
    for value in steps:
        x = float(layout.x(places(value, window.x_scale), window))
        painter.setPen(QPen(line, 1))
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom() + GRID))
        painter.setPen(soft)
        box = QRectF(x - 15 * GRID, plot.bottom() + GRID, 30 * GRID, height)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{value:,.0f}")
    painter.setPen(QPen(theme.color("border"), 1))
    painter.drawLine(plot.bottomLeft(), plot.bottomRight())
    painter.setPen(soft)
    below = QRectF(plot.left(), plot.bottom() + GRID + height, plot.width(), height)
    painter.drawText(below, Qt.AlignmentFlag.AlignRight, f"step{_log(window.x_scale)} →")
    painter.drawText(below, Qt.AlignmentFlag.AlignLeft, f"{unit}{_log(window.y_scale)}")


def _log(scale: AxisScale) -> str:
    return "" if scale is AxisScale.LINEAR else ", logarithmic"


def _draw_step(
    painter: QPainter, x: float, step: float, layout: ChartLayout, theme: Theme, font: QFont
) -> None:
    """The number of the step below the axis, over the ticks."""
    painter.setFont(scaled_font(font, 0.85, bold=True))
    metrics = QFontMetricsF(painter.font())
    text = f"{step:,.0f}"
    width = metrics.horizontalAdvance(text) + 2 * GRID
    left = min(max(x - width / 2, layout.plot.left()), layout.plot.right() - width)
    box = QRectF(left, layout.plot.bottom() + 2, width, metrics.height() + GRID)
    painter.fillRect(box.adjusted(-2 * GRID, 0, 2 * GRID, 0), theme.color("paper"))
    painter.fillRect(box, theme.color("accent"))
    painter.setPen(theme.color("on_accent"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _draw_marks(
    painter: QPainter,
    marks: Sequence[Mark],
    window: Window,
    layout: ChartLayout,
    theme: Theme,
    font: QFont,
) -> None:
    plot = layout.plot
    painter.setFont(scaled_font(font, 0.85))
    metrics = QFontMetricsF(painter.font())
    color = theme.color("accent")
    for mark in marks:
        painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine))
        width = metrics.horizontalAdvance(mark.text) + 1
        if mark.upright:
            x = float(layout.x(places(mark.value, window.x_scale), window))
            if not plot.left() - 1 <= x <= plot.right() + 1:
                continue
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            left = x + GRID if x + GRID + width <= plot.right() else x - GRID - width
            box = QRectF(left, plot.top(), width, metrics.height())
        else:
            y = float(layout.y(places(mark.value, window.y_scale), window))
            if not plot.top() <= y <= plot.bottom():
                continue
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            box = QRectF(plot.left() + GRID, y - metrics.height(), width, metrics.height())
        painter.setPen(color)
        painter.drawText(box, 0, mark.text)
