"""Accuracy over the inserted words: one place for each distance, as the steps double."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from transformer_viz.drawing.numbers import percent
from transformer_viz.theme import GRID, Theme, grown, scaled_font

MARGIN = 4 * GRID
_SWATCH = 5 * GRID
_DOT = 3.0
_BAND = 0.12  # opacity
_VMiddle = Qt.AlignmentFlag.AlignVCenter
_Left = Qt.AlignmentFlag.AlignLeft | _VMiddle
_Right = Qt.AlignmentFlag.AlignRight | _VMiddle
_Center = Qt.AlignmentFlag.AlignCenter


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve over distances.

    Attributes:
        values: a share at each distance.
        token: its colour.
        dashed: whether it is a reference.
        band: the ends of the interval around each value; none where it is empty.
    """

    name: str
    values: tuple[float, ...]
    token: str
    dashed: bool = False
    band: tuple[tuple[float, float], ...] = ()

    def pen(self, theme: Theme) -> QPen:
        style = Qt.PenStyle.DashLine if self.dashed else Qt.PenStyle.SolidLine
        return QPen(theme.color(self.token), 2, style)


@dataclass(frozen=True, slots=True)
class CurvesPicture:
    """The curves of accuracy by distance.

    Attributes:
        pushed_in: inserted words, for each distance.
        between: words between the two in all.
        trained: the most between the two in training; None where that is not known.
        focus: which distance is read off.
    """

    curves: tuple[Curve, ...]
    pushed_in: tuple[int, ...]
    between: tuple[float, ...]
    trained: int | None
    focus: int | None = None


def gutter(font: QFont) -> float:
    """Return the width left of the first distance: names here, and in the table below."""
    return grown(52 * GRID, font)


def column(width: float, count: int, number: int, font: QFont) -> tuple[float, float]:
    """Return the left edge and the width of a distance's column."""
    left = gutter(font)
    pitch = (width - left - MARGIN) / count
    return left + number * pitch, pitch


def column_at(width: float, count: int, x: float, font: QFont) -> int | None:
    left, pitch = column(width, count, 0, font)
    number = int((x - left) // pitch)
    return number if 0 <= number < count else None


def plot_rect(rect: QRectF, font: QFont) -> QRectF:
    line = QFontMetricsF(scaled_font(font, 0.85)).height()
    return rect.adjusted(gutter(font), line + GRID, -MARGIN, -(2 * line + 2 * GRID))


def draw_curves(
    painter: QPainter, picture: CurvesPicture, rect: QRectF, theme: Theme, font: QFont
) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    small = scaled_font(font, 0.85)
    painter.setFont(small)
    plot, count = plot_rect(rect, font), len(picture.pushed_in)
    middles = [
        rect.left() + left + pitch / 2
        for left, pitch in (column(rect.width(), count, number, font) for number in range(count))
    ]
    _draw_untrained(painter, picture, plot, middles, theme)
    _draw_axes(painter, picture, rect, plot, middles, theme)
    if picture.focus is not None:
        painter.setPen(QPen(theme.color("accent"), 1))
        x = middles[picture.focus]
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
    _draw_bands(painter, picture, plot, middles, theme)
    for curve in reversed(picture.curves):
        points = _points(plot, middles, curve.values)
        painter.setPen(curve.pen(theme))
        painter.drawPolyline(QPolygonF(points))
        if not curve.dashed:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color(curve.token))
            for point in points:
                painter.drawEllipse(point, _DOT, _DOT)
            painter.setBrush(Qt.BrushStyle.NoBrush)
    _draw_legend(painter, picture, rect, plot, theme)
    painter.restore()


def _points(plot: QRectF, middles: Sequence[float], shares: Iterable[float]) -> list[QPointF]:
    return [
        QPointF(x, plot.bottom() - share * plot.height())
        for x, share in zip(middles, shares, strict=True)
    ]


def _draw_bands(
    painter: QPainter,
    picture: CurvesPicture,
    plot: QRectF,
    middles: Sequence[float],
    theme: Theme,
) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    for curve in picture.curves:
        if curve.band:
            color = theme.color(curve.token)
            color.setAlphaF(_BAND)
            painter.setBrush(color)
            low, high = (_points(plot, middles, ends) for ends in zip(*curve.band, strict=True))
            painter.drawPolygon(QPolygonF([*low, *reversed(high)]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_untrained(
    painter: QPainter,
    picture: CurvesPicture,
    plot: QRectF,
    middles: Sequence[float],
    theme: Theme,
) -> None:
    """Shaded where more words are between the two than in any sentence of training."""
    if picture.trained is None or picture.trained >= picture.between[-1]:
        return
    start = plot.left()
    if picture.trained >= picture.between[0]:
        start = float(np.interp(picture.trained, picture.between, middles))
    area = QRectF(start, plot.top(), plot.right() - start, plot.height())
    painter.fillRect(area, theme.color("hover"))
    metrics = QFontMetricsF(painter.font())
    box = QRectF(plot.left(), plot.top() - metrics.height() - 1, plot.width(), metrics.height())
    painter.setPen(theme.color("soft"))
    painter.drawText(box, _Right, "grey: farther apart than in training")


def _draw_axes(
    painter: QPainter,
    picture: CurvesPicture,
    rect: QRectF,
    plot: QRectF,
    middles: Sequence[float],
    theme: Theme,
) -> None:
    metrics = QFontMetricsF(painter.font())
    line, widest = metrics.height(), metrics.horizontalAdvance(percent(1.0))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = plot.bottom() - share * plot.height()
        painter.setPen(QPen(theme.color("line" if share else "border"), 1))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        if share in (0.0, 0.5, 1.0):
            painter.setPen(theme.color("soft"))
            box = QRectF(plot.left() - widest - GRID, y - line / 2, widest, line)
            painter.drawText(box, _Right, percent(share))
    top = plot.bottom() + GRID
    rows = (
        ("inserted words", [f"{words:,}" for words in picture.pushed_in], "ink"),
        ("words between (mean)", [f"{words:.0f}" for words in picture.between], "soft"),
    )
    for number, (name, texts, token) in enumerate(rows):
        y = top + number * line
        painter.setPen(theme.color("soft"))
        name_box = QRectF(rect.left() + MARGIN, y, plot.left() - rect.left() - MARGIN, line)
        painter.drawText(name_box, _Left, name)
        painter.setPen(theme.color(token))
        for x, text in zip(middles, texts, strict=True):
            painter.drawText(QRectF(x - 10 * GRID, y, 20 * GRID, line), _Center, text)


def _draw_legend(
    painter: QPainter,
    picture: CurvesPicture,
    rect: QRectF,
    plot: QRectF,
    theme: Theme,
) -> None:
    """In the gutter; with the values at the distance that is read off."""
    metrics = QFontMetricsF(painter.font())
    line = metrics.height() + GRID
    left = rect.left() + MARGIN
    axis = metrics.horizontalAdvance(percent(1.0)) + GRID
    room = plot.left() - axis - left - _SWATCH - 2 * GRID
    for number, curve in enumerate(picture.curves):
        top = plot.top() + number * line
        middle = top + metrics.height() / 2
        painter.setPen(curve.pen(theme))
        painter.drawLine(QPointF(left, middle), QPointF(left + _SWATCH, middle))
        value = "" if picture.focus is None else percent(curve.values[picture.focus])
        taken = metrics.horizontalAdvance(value) + GRID if value else 0.0
        box = QRectF(left + _SWATCH + GRID, top, room, metrics.height())
        painter.setPen(theme.color("ink"))
        elide = Qt.TextElideMode.ElideRight
        painter.drawText(box, _Left, metrics.elidedText(curve.name, elide, room - taken))
        painter.drawText(box, _Right, value)
