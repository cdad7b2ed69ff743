"""A map without labels beside a large one of the same rows and columns."""

import math

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from transformer_viz.drawing.marks import Marks, draw_marks
from transformer_viz.drawing.matrix import MatrixLayout, MatrixPicture, Style, matrix_image
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.state.selection import Cell

_SMALLEST = 20 * GRID
_FADED = 0.55  # how much of the paper covers a stale map


class SmallMap(QWidget):
    cellHovered = Signal(object, object)  # row, column: int | None
    cellClicked = Signal(object, object, bool)  # …, whether beside what is pinned
    doubleClicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._table = np.zeros((256, 4), np.uint8)
        self._picture: MatrixPicture | None = None
        self._image: QImage | None = None  # of the cells, made when next painted
        self._marks = Marks()
        self._stale = False
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def minimumSizeHint(self) -> QSize:
        return QSize(_SMALLEST, _SMALLEST)

    def show_picture(self, picture: MatrixPicture, table: np.ndarray, theme: Theme) -> None:
        """Show a map; `table` is RGBA uint8 [256, 4] by code."""
        self._picture, self._table, self._theme = picture, table, theme
        self._image = None
        self.update()

    def set_marks(self, marks: Marks) -> None:
        if marks != self._marks:
            self._marks = marks
            self.update()

    def set_stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.update()

    def layout_now(self, picture: MatrixPicture) -> MatrixLayout:
        """The whole map, as large as fits, at the upper left; a pixel is left for its frame."""
        rows, columns = picture.shape
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        cell = min(area.width() / columns, area.height() / rows)
        ratio = self.devicePixelRatioF()
        if cell * ratio >= 2 * GRID:
            cell = math.floor(cell * ratio) / ratio
        return MatrixLayout(picture.shape, area, cell, cell, area.left(), area.top(), 0.0)

    def _cell_at(self, point: QPointF) -> Cell:
        if self._picture is None:
            return None, None
        layout = self.layout_now(self._picture)
        if not layout.matrix.contains(point):
            return None, None
        rows, columns = layout.shape
        return (
            min(int((point.y() - layout.top) / layout.cell), rows - 1),
            min(int((point.x() - layout.left) / layout.cell), columns - 1),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            return
        layout = self.layout_now(self._picture)
        if self._image is None:
            style = Style(self._theme, self._table, self.font())
            self._image = matrix_image(self._picture, layout, style, self.devicePixelRatioF())
        with QPainter(self) as painter:
            painter.drawImage(layout.matrix, self._image)
            if self._stale:
                veil = self._theme.color("paper")
                veil.setAlphaF(_FADED)
                painter.fillRect(layout.matrix, veil)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self._theme.color("border"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(layout.matrix)
            draw_marks(painter, layout, self._marks, self._theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._image = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.cellHovered.emit(*self._cell_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.cellClicked.emit(*self._cell_at(event.position()), beside)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.doubleClicked.emit()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.cellHovered.emit(None, None)
