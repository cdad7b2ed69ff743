"""A `NumberMap` to point at: hover, click, arrow keys."""

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPen

from transformer_viz.drawing.theme import Theme
from transformer_viz.positions.number_map import (
    MapLayout,
    NumberMap,
    draw_number_map,
    lay_out_map,
    map_image,
)
from transformer_viz.widgets.picture import Picture

_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-10, 0),
    Qt.Key.Key_PageDown: (10, 0),
}


class NumberCanvas(Picture):
    """The cell in focus is the one under the pointer, else where the arrow keys went."""

    focusMoved = Signal()
    clicked = Signal(int, int)  # row, column; also by Return and Space

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cell: tuple[int, int] | None = None
        self.picture: NumberMap | None = None
        self._table = np.zeros((256, 4), np.uint8)
        self._image = QImage()
        self._image_of: tuple[MapLayout, float] | None = None

    def show_picture(self, picture: NumberMap, table: np.ndarray, theme: Theme) -> None:
        """Show a map; `table` is RGBA uint8 [256, 4] by code."""
        self.picture, self._table, self.theme = picture, table, theme
        self._image_of = None
        if self.cell is not None and not self._exists(*self.cell):
            self._move_to(None)
        self.update()

    def layout_now(self) -> MapLayout:
        assert self.picture is not None
        shape = self.picture.codes.shape
        return lay_out_map(QRectF(self.rect()), shape, self.picture.square, self.font())

    def _exists(self, row: int, column: int) -> bool:
        """Whether there is a cell, and the table has not ended before it."""
        assert self.picture is not None
        rows, columns = self.picture.codes.shape
        present = self.picture.extent.present
        inside = 0 <= row < min(rows, present) and 0 <= column < columns
        return inside and (not self.picture.square or column < present)

    def _move_to(self, cell: tuple[int, int] | None) -> None:
        if cell is not None and not self._exists(*cell):
            cell = None
        if cell != self.cell:
            self.cell = cell
            self.update()
            self.focusMoved.emit()

    def frame(self) -> QRectF | None:
        if self.picture is None:
            return None
        return self.layout_now().cells.adjusted(-0.5, -0.5, 0.5, 0.5)

    def paint(self, painter: QPainter) -> None:
        if self.picture is None:
            return
        layout, ratio = self.layout_now(), self.devicePixelRatioF()
        if self._image_of != (layout, ratio):
            self._image_of = layout, ratio
            self._image = map_image(self.picture, layout, self._table, ratio)
        draw_number_map(
            painter,
            QRectF(self.rect()),
            self.picture,
            layout,
            self._image,
            self._table,
            self.theme,
            self.font(),
        )
        if self.cell is not None:
            self._draw_cross(painter, layout, *self.cell)

    def _draw_cross(self, painter: QPainter, layout: MapLayout, row: int, column: int) -> None:
        cell, cells = layout.cell_rect(row, column), layout.cells
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.color("accent"), 1))
        painter.drawRect(QRectF(cells.left(), cell.top(), cells.width(), cell.height()))
        painter.drawRect(QRectF(cell.left(), cells.top(), cell.width(), cells.height()))
        frame = cell.united(QRectF(cell.center() - QPointF(3, 3), cell.center() + QPointF(3, 3)))
        painter.setPen(QPen(self.theme.color("ink"), 1.5))
        painter.drawRect(frame)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.picture is not None:
            self._move_to(self.layout_now().cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._move_to(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.LeftButton and self.cell is not None:
            self.clicked.emit(*self.cell)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.picture is None:
            return
        if event.key() in _MOVES:
            row, column = self.cell or (0, 0)
            rows, columns = _MOVES[Qt.Key(event.key())] if self.cell else (0, 0)
            cell = max(0, row + rows), max(0, column + columns)
            if self._exists(*cell):
                self._move_to(cell)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Space) and self.cell is not None:
            self.clicked.emit(*self.cell)
        else:
            super().keyPressEvent(event)
