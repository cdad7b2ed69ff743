"""The maps of a sentence and its variant, to point at: the same pair of tokens lights up in all."""

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from transformer_viz.drawing.variant_maps import (
    TokenMap,
    VariantLayout,
    draw_variant,
    lay_out_variant,
)
from transformer_viz.theme import GRID, LIGHT, Theme

_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class VariantCanvas(QWidget):
    """`focus`: query and key in the sentence's own order."""

    focusMoved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.focus: tuple[int, int] | None = None
        self.maps: tuple[TokenMap, ...] = ()
        self._table = np.zeros((256, 4), np.uint8)
        self._theme = LIGHT
        self.setAccessibleName("Attention of the sentence and of its variant")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def minimumSizeHint(self) -> QSize:
        return QSize(60 * GRID, 40 * GRID)

    def show_maps(self, maps: tuple[TokenMap, ...], table: np.ndarray, theme: Theme) -> None:
        """`table`: RGBA uint8 [256, 4] by code."""
        if not maps or not self.maps or maps[0].tokens != self.maps[0].tokens:
            self._move_to(None)
        self.maps, self._table, self._theme = maps, table, theme
        self.update()

    def layout_now(self) -> VariantLayout:
        return lay_out_variant(QRectF(self.rect()), self.maps, self.font())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("paper"))
        if not self.maps:
            return
        layout, rect = self.layout_now(), QRectF(self.rect())
        draw_variant(
            painter, rect, self.maps, layout, self._table, self._theme, self.font(), self.focus
        )
        if self.hasFocus():
            painter.setPen(self._theme.color("accent"))
            painter.drawRect(layout.cells[0].adjusted(-0.5, -0.5, 0.5, 0.5))

    def _move_to(self, focus: tuple[int, int] | None) -> None:
        if focus != self.focus:
            self.focus = focus
            self.update()
            self.focusMoved.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self.layout_now().cell_at(event.position()) if self.maps else None
        if at is None:
            self._move_to(None)
        else:
            order = self.maps[at[0]].order
            self._move_to((order[at[1]], order[at[2]]))

    def leaveEvent(self, event: QEvent) -> None:
        self._move_to(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVES and self.maps:
            query, key = self.focus or (0, 0)
            rows, columns = _MOVES[Qt.Key(event.key())] if self.focus else (0, 0)
            last = len(self.maps[0].tokens) - 1
            self._move_to((min(max(query + rows, 0), last), min(max(key + columns, 0), last)))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.update()
