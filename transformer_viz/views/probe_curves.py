"""The curves of accuracy by distance, read off under the pointer or by keys."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from transformer_viz.drawing.distance_curves import (
    CurvesPicture,
    column_at,
    draw_curves,
    plot_rect,
)
from transformer_viz.drawing.numbers import percent
from transformer_viz.theme import GRID, Theme, grown
from transformer_viz.views.accessibility import announce
from transformer_viz.views.picture import Picture

_MOVES = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class ProbeCurves(Picture):
    def __init__(self) -> None:
        super().__init__("Accuracy by distance")
        self.picture: CurvesPicture | None = None

    def show_curves(self, picture: CurvesPicture | None) -> None:
        """What was read off stays so."""
        focus = None if self.picture is None else self.picture.focus
        self.picture = picture
        if picture is not None and focus is not None and focus < len(picture.pushed_in):
            self.picture = replace(picture, focus=focus)
        self._announce()
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def minimumSizeHint(self) -> QSize:
        return QSize(120 * GRID, round(grown(36 * GRID, self.font())))

    def frame(self) -> QRectF | None:
        return None if self.picture is None else plot_rect(QRectF(self.rect()), self.font())

    def paint(self, painter: QPainter) -> None:
        if self.picture is not None:
            draw_curves(painter, self.picture, QRectF(self.rect()), self.theme, self.font())

    def read_off(self, distance: int | None) -> None:
        """Choose which of the distances is read off."""
        picture = self.picture
        if picture is not None and distance != picture.focus:
            self.picture = replace(picture, focus=distance)
            self._announce()
            self.update()

    def _announce(self) -> None:
        picture = self.picture
        if picture is None:
            announce(self, "")
            return
        places = range(len(picture.pushed_in)) if picture.focus is None else [picture.focus]
        announce(self, "; ".join(_in_words(picture, place) for place in places))

    # Events

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.picture is not None:
            count = len(self.picture.pushed_in)
            self.read_off(column_at(self.width(), count, event.position().x(), self.font()))

    def leaveEvent(self, event: QEvent) -> None:
        self.read_off(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        picture, move = self.picture, _MOVES.get(Qt.Key(event.key()))
        if picture is None or move is None:
            super().keyPressEvent(event)
            return
        last = len(picture.pushed_in) - 1
        start = (last if move < 0 else 0) if picture.focus is None else picture.focus + move
        self.read_off(max(0, min(start, last)))


def _in_words(picture: CurvesPicture, place: int) -> str:
    """All curves at one distance."""
    values = (f"{curve.name} {percent(curve.values[place])}" for curve in picture.curves)
    return f"{picture.pushed_in[place]} inserted words: {', '.join(values)}"
