"""Several heads side by side: point at a cell in one and see it in all."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from transformer_viz.drawing.marks import Marks
from transformer_viz.drawing.matrix import MatrixPicture, Style, matrix_image
from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.heatmap.draw_matrix_grid import GridLayout, draw_grid, fit_grid
from transformer_viz.state.selection import Cell

MOST = 16  # maps
LARGEST = 512  # cells along a side that a small map keeps


class MatrixGrid(QWidget):
    """Several maps beside each other; signals carry entries, as in `MatrixCanvas`, and the number
    of the map."""

    cellHovered = Signal(object, object)  # row, column
    cellClicked = Signal(object, object, bool)  # …, whether beside what is pinned
    mapClicked = Signal(int)  # by its caption

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._table = np.zeros((256, 4), np.uint8)
        self._pictures: tuple[MatrixPicture, ...] = ()
        self._names: tuple[str, ...] = ()
        self._values: tuple[str, ...] = ()
        self._current: int | None = None
        self._marks = Marks()
        self._layout: GridLayout | None = None  # both made when next painted
        self._images: list[QImage] = []
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def set_theme(self, theme: Theme, table: np.ndarray) -> None:
        """Use a theme; `table` is RGBA uint8 [256, 4] by code."""
        self._theme, self._table = theme, table
        self._rearrange()

    def set_pictures(self, pictures: Sequence[MatrixPicture], names: Sequence[str]) -> None:
        """Show maps of the same axes; those of the last names may arrive later."""
        self._pictures, self._names = tuple(pictures), tuple(names)
        self._values = ()
        self._rearrange()

    def set_marks(self, marks: Marks, values: Sequence[str], current: int | None) -> None:
        """Mark cells; `values`: of each map at the cell in focus, or none, `current`: the map to
        stress."""
        self._marks, self._values, self._current = marks, tuple(values), current
        self.update()

    @property
    def grid(self) -> GridLayout | None:
        """The place of the maps; None while there is none."""
        if self._layout is None and self._pictures:
            size, ratio = QSizeF(self.size()), self.devicePixelRatioF()
            self._layout = fit_grid(self._pictures[0], len(self._names), size, self.font(), ratio)
        return self._layout

    def paint_onto(self, painter: QPainter, resolution: float) -> None:
        """What is shown, with its pins and without what the pointer is on, at the painter's
        origin; `resolution`: pixels of the cells' images per unit of the painter."""
        if self.grid is not None:
            images = self._cell_images(self.grid, resolution)
            self._draw(painter, self.grid, images, (), Marks(pins=self._marks.pins))

    def _style(self) -> Style:
        return Style(self._theme, self._table, self.font())

    def _cell_images(self, layout: GridLayout, ratio: float) -> list[QImage]:
        style = self._style()
        return [
            matrix_image(picture, tile, style, ratio)
            for picture, tile in zip(self._pictures, layout.tiles, strict=False)
        ]

    def _rearrange(self) -> None:
        self._layout = None
        self._images = []
        self.update()

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        layout = self.grid
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("paper"))
            if layout is None:
                return
            if not self._images:
                self._images = self._cell_images(layout, self.devicePixelRatioF())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw(painter, layout, self._images, self._values, self._marks)

    def _draw(
        self,
        painter: QPainter,
        layout: GridLayout,
        images: Sequence[QImage],
        values: Sequence[str],
        marks: Marks,
    ) -> None:
        draw_grid(
            painter,
            layout,
            self._pictures,
            images,
            self._names,
            values,
            self._style(),
            self.height(),
            marks=marks,
            current=self._current,
            focused=self.hasFocus(),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._rearrange()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the view around the maps knows what keys mean

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.cellHovered.emit(*self._cell_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        layout = self.grid
        if layout is None or event.button() != Qt.MouseButton.LeftButton:
            return
        index, cell = layout.tile_at(event.position()), self._cell_at(event.position())
        if cell != (None, None):
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.cellClicked.emit(*cell, beside)
        elif index is not None:
            self.mapClicked.emit(index)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.cellHovered.emit(None, None)

    def _cell_at(self, point: QPointF) -> Cell:
        return self.grid.cell_at(point) if self.grid else (None, None)
