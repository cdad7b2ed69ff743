"""The maps of a sentence and its variant, to point at: the same pair of tokens lights up in all."""

import numpy as np
from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from transformer_viz.drawing.theme import Theme
from transformer_viz.positions.variant_maps import (
    TokenMap,
    VariantLayout,
    draw_variant,
    lay_out_variant,
)
from transformer_viz.widgets.picture import Picture

_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class VariantCanvas(Picture):
    """The maps of a variant; `focus` is query and key in the sentence's own order."""

    focusMoved = Signal()

    def __init__(self) -> None:
        super().__init__("Attention of the sentence and of its variant")
        self.focus: tuple[int, int] | None = None
        self.maps: tuple[TokenMap, ...] = ()
        self._table = np.zeros((256, 4), np.uint8)

    def show_maps(self, maps: tuple[TokenMap, ...], table: np.ndarray, theme: Theme) -> None:
        """Show maps; `table` is RGBA uint8 [256, 4] by code."""
        if not maps or not self.maps or maps[0].tokens != self.maps[0].tokens:
            self._move_to(None)
        self.maps, self._table, self.theme = maps, table, theme
        self.update()

    def layout_now(self) -> VariantLayout:
        return lay_out_variant(QRectF(self.rect()), self.maps, self.font())

    def frame(self) -> QRectF | None:
        return self.layout_now().cells[0].adjusted(-0.5, -0.5, 0.5, 0.5) if self.maps else None

    def paint(self, painter: QPainter) -> None:
        if self.maps:
            draw_variant(
                painter,
                QRectF(self.rect()),
                self.maps,
                self.layout_now(),
                self._table,
                self.theme,
                self.font(),
                self.focus,
            )

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
