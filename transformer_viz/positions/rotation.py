"""A shift as rotations: pairs of columns as points in the plane, and the matrix that turns them.

A pair (sine, cosine) is the point with the cosine to the right and the sine upwards, so that a
larger position lies further along, counter-clockwise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from transformer_viz.drawing.diverging import encode_signed
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

LARGEST = 48 * GRID
_HEAD = 2 * GRID  # of an arrow


@dataclass(frozen=True, slots=True)
class TurnedPair:
    """One pair before and after; points are (cosine, sine).

    Attributes:
        name: its columns; note: its wavelength.
        angle: of the rotation, in radians.
        start: PE(pos); turned: R_k PE(pos); target: PE(pos + k).
    """

    name: str
    note: str
    angle: float
    start: complex
    turned: complex
    target: complex


def face_size(room: QSizeF, font: QFont) -> float:
    """The diameter of a clock face that has so much room with its text."""
    line = QFontMetricsF(scaled_font(font, 0.85)).height()
    return min(room.width() - 2 * GRID, room.height() - 3 * line - 2 * GRID, LARGEST)


def draw_pair(
    painter: QPainter, rect: QRectF, pair: TurnedPair, radius: float, theme: Theme, font: QFont
) -> None:
    """A clock face with three lines of text below. `radius`: what 1 pixel radius stands for is
    the largest length of any pair, so that faces compare."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    small = scaled_font(font, 0.85)
    line = QFontMetricsF(small).height()
    side = face_size(rect.size(), font)
    face = QRectF(rect.center().x() - side / 2, rect.top(), side, side)
    center, scale = face.center(), (side / 2 - GRID) / radius
    painter.setPen(QPen(theme.color("line"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(face.adjusted(GRID, GRID, -GRID, -GRID))
    painter.drawLine(QPointF(face.left(), center.y()), QPointF(face.right(), center.y()))
    painter.drawLine(QPointF(center.x(), face.top()), QPointF(center.x(), face.bottom()))

    def place(point: complex) -> QPointF:
        return center + QPointF(point.real, -point.imag) * scale

    _draw_turn(painter, center, pair, scale * abs(pair.start) * 0.6, theme)
    _draw_arrow(painter, center, place(pair.start), QPen(theme.color("soft"), 2))
    _draw_arrow(painter, center, place(pair.turned), QPen(theme.color("accent"), 2))
    painter.setPen(QPen(theme.color("warning"), 2))
    painter.drawEllipse(place(pair.target), 1.5 * GRID, 1.5 * GRID)

    painter.setFont(small)
    turns = f"{signed(math.degrees(pair.angle), 1)}° · {signed(pair.angle)} rad"
    for number, (text, token) in enumerate(
        ((pair.name, "ink"), (pair.note, "soft"), (turns, "accent"))
    ):
        painter.setPen(theme.color(token))
        box = QRectF(rect.left(), face.bottom() + GRID + number * line, rect.width(), line)
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, text)
    painter.restore()


def _draw_turn(
    painter: QPainter, center: QPointF, pair: TurnedPair, radius: float, theme: Theme
) -> None:
    """The way from the start to the turned point; more than a whole turn is drawn as a circle."""
    box = QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius)
    start = math.degrees(math.atan2(pair.start.imag, pair.start.real))
    span = max(-360.0, min(360.0, math.degrees(pair.angle)))
    painter.setPen(QPen(theme.color("accent"), 1, Qt.PenStyle.DotLine))
    painter.drawArc(box, round(16 * start), round(16 * span))


def _draw_arrow(painter: QPainter, start: QPointF, end: QPointF, pen: QPen) -> None:
    painter.setPen(pen)
    painter.drawLine(start, end)
    along = end - start
    length = math.hypot(along.x(), along.y())
    if length < _HEAD:
        return
    back = along * (_HEAD / length)
    side = QPointF(-back.y(), back.x()) * 0.4
    painter.setBrush(pen.color())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawPolygon(QPolygonF([end, end - back + side, end - back - side]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_rotation(
    painter: QPainter,
    rect: QRectF,
    matrix: np.ndarray,
    columns: Sequence[int],
    table: np.ndarray,
    theme: Theme,
    font: QFont,
) -> None:
    """A part of R_k, [m, m], with the columns it takes and gives, and its numbers where they fit.

    `table`: RGBA uint8 [256, 4] by code (`diverging.diverging_table`).
    """
    painter.save()
    small = scaled_font(font, 0.75)
    metrics = QFontMetricsF(small)
    label = metrics.horizontalAdvance(str(max(columns))) + GRID
    line = metrics.height()
    count = len(columns)
    pitch = math.floor(min(rect.width() - label, rect.height() - line) / count)
    cells = QRectF(rect.left() + label, rect.top() + line, pitch * count, pitch * count)
    painter.drawImage(cells, to_image(table[encode_signed(matrix, 1.0)]))
    painter.setPen(theme.color("border"))
    painter.drawRect(cells.adjusted(-0.5, -0.5, 0.5, 0.5))
    painter.setFont(small)
    numbers = pitch >= metrics.horizontalAdvance("−0.00") + 2
    middle = Qt.AlignmentFlag.AlignCenter
    for i, column in enumerate(columns):
        at = i * pitch
        painter.setPen(theme.color("soft"))
        left = QRectF(rect.left(), cells.top() + at, label - GRID, pitch)
        painter.drawText(
            left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(column)
        )
        painter.drawText(QRectF(cells.left() + at, rect.top(), pitch, line), middle, str(column))
        for j in range(count) if numbers else ():
            if matrix[i, j]:
                strong = abs(matrix[i, j]) > 0.6
                painter.setPen(theme.color("paper" if strong else "ink"))
                box = QRectF(cells.left() + j * pitch, cells.top() + at, pitch, pitch)
                painter.drawText(box, middle, signed(float(matrix[i, j])))
    painter.restore()
