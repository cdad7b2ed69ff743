"""Queries and keys as arrows in the plane, where d_k is 2: one arrow can be turned."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from transformer_viz.by_hand.sheet import Sheet
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.widgets.accessibility import announce

_TIP = 5.0  # pixels around the tip of an arrow
TURN = math.radians(5)  # of an arrow key
STRETCH = 1.1
_ROUNDED = 2  # digits of what the mouse sets
_TURNS = {Qt.Key.Key_Left: TURN, Qt.Key.Key_Right: -TURN}
_STRETCHES = {Qt.Key.Key_Up: STRETCH, Qt.Key.Key_Down: 1 / STRETCH}


class Plane(QWidget):
    """Drag the query's arrow, or turn it with ← → and stretch it with ↑ ↓.

    The thick line on each key is the shadow of the query on it; its length times that of the key
    is the score.
    """

    queryTurned = Signal(float, float)  # the first query's numbers

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sheet: Sheet | None = None
        self._theme = LIGHT
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Query and keys as arrows")
        self.setToolTip("Drag the arrow of the query; ← → turn it, ↑ ↓ stretch it")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(45 * GRID)

    def sizeHint(self) -> QSize:
        return QSize(80 * GRID, 70 * GRID)

    def show_sheet(self, sheet: Sheet) -> None:
        """Show a sheet with two dimensions; another one hides the plane."""
        self._sheet = sheet if sheet.width == 2 else None
        self.setVisible(self._sheet is not None)
        if self._sheet is not None:
            announce(self, self.in_words())
        self.update()

    def in_words(self) -> str:
        """The query and its scores."""
        sheet = self._sheet
        if sheet is None:
            return ""
        scores = sheet.rows()[0].sums
        told = ", ".join(
            f"{name} {signed(float(score))}"
            for name, score in zip(sheet.names, scores, strict=True)
        )
        x, y = (signed(float(part)) for part in sheet.queries[0])
        return f"Query of {sheet.asking_names[0]}: {x}, {y}. Scores: {told}."

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter, QRectF(self.rect()))

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the plane into a rectangle, on any device."""
        sheet, theme = self._sheet, self._theme
        if sheet is None:
            return
        painter.fillRect(rect, theme.color("paper"))
        scale, centre = self._scale(rect), rect.center()

        def place(vector: np.ndarray) -> QPointF:
            return centre + QPointF(float(vector[0]) * scale, -float(vector[1]) * scale)

        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(QPointF(rect.left(), centre.y()), QPointF(rect.right(), centre.y()))
        painter.drawLine(QPointF(centre.x(), rect.top()), QPointF(centre.x(), rect.bottom()))
        query = sheet.queries[0]
        weights = sheet.rows()[0].weights
        for key in sheet.keys:
            length = float(key @ key)
            if length > 0:
                foot = key * float(query @ key) / length
                painter.setPen(QPen(theme.color("border"), 1, Qt.PenStyle.DashLine))
                painter.drawLine(place(query), place(foot))
                painter.setPen(QPen(theme.color("accent_soft"), 6))
                painter.drawLine(centre, place(foot))
            _arrow(painter, centre, place(key), theme.color("ink"), 1.6)
        _arrow(painter, centre, place(query), theme.color("accent"), 3)
        names = [(f"query of {sheet.asking_names[0]}", place(query), theme.color("accent"))]
        for name, key, weight in zip(sheet.names, sheet.keys, weights, strict=True):
            text = f"{name}  {signed(float(query @ key))} → {weight:.2f}"
            names.append((text, place(key), theme.color("ink")))
        taken = [QRectF(end.x() - _TIP, end.y() - _TIP, 2 * _TIP, 2 * _TIP) for _, end, _ in names]
        for text, end, color in names:
            taken.append(free_place(painter.fontMetrics(), rect, end, text, taken))
            painter.setPen(color)
            painter.drawText(taken[-1], Qt.AlignmentFlag.AlignCenter, text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._follow(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._follow(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        sheet, key = self._sheet, Qt.Key(event.key())
        if sheet is None or (key not in _TURNS and key not in _STRETCHES):
            super().keyPressEvent(event)
            return
        x, y = (float(part) for part in sheet.queries[0])
        turn, stretch = _TURNS.get(key, 0.0), _STRETCHES.get(key, 1.0)
        cosine, sine = math.cos(turn) * stretch, math.sin(turn) * stretch
        self.queryTurned.emit(x * cosine - y * sine, x * sine + y * cosine)

    def _follow(self, event: QMouseEvent) -> None:
        if self._sheet is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        rect = QRectF(self.rect())
        away = (event.position() - rect.center()) / self._scale(rect)
        self.queryTurned.emit(round(away.x(), _ROUNDED), round(-away.y(), _ROUNDED))

    def _scale(self, rect: QRectF) -> float:
        """Pixels of a unit, so that every key has room; the query may be longer."""
        assert self._sheet is not None
        largest = max(1.0, float(np.abs(self._sheet.keys).max()))
        return min(rect.width(), rect.height()) / 2 / (1.35 * largest)


def _arrow(painter: QPainter, start: QPointF, end: QPointF, color: QColor, width: float) -> None:
    painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(start, end)
    along = end - start
    length = math.hypot(along.x(), along.y())
    if length > 0:
        along /= length
        across = QPointF(-along.y(), along.x())
        size = 4 + 2 * width
        for side in (1, -1):
            painter.drawLine(end, end - along * size + across * size / 2 * side)


def free_place(
    metrics: QFontMetrics, rect: QRectF, end: QPointF, text: str, taken: list[QRectF]
) -> QRectF:
    """Where the name of an arrow stands: beside its tip, away from the centre of `rect` if there is
    room, else towards it or a line farther."""
    wide, line = metrics.horizontalAdvance(text) + 2, metrics.height()
    right, up = end.x() >= rect.center().x(), end.y() < rect.center().y()
    left = end.x() + 8 if right else end.x() - 8 - wide
    left = max(rect.left() + 2, min(left, rect.right() - 2 - wide))
    above = [end.y() - 4 - step * line for step in range(1, len(taken) + 2)]
    below = [end.y() + 4 + step * line for step in range(len(taken) + 1)]
    first, second = (above, below) if up else (below, above)
    found = [
        QRectF(left, top, wide, line) for pair in zip(first, second, strict=True) for top in pair
    ]
    free = (one for one in found if not any(one.intersects(other) for other in taken))
    return next(free, found[0])
