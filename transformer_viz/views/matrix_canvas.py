"""One attention map, large: cells, token labels on both axes, crosshair, colour bar; pan and zoom.

pyqtgraph's ViewBox keeps the range and its ImageItem draws the cells; the rest is drawn on top.
Row i is query i, column j is key j, always. Cells are square.

Shapes: Q queries, K keys.
"""

import math
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip

from core.text.tokens import Token
from transformer_viz.drawing import axes, colorbar
from transformer_viz.drawing.axes import Axis
from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.labels import describe
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.selection import Cell
from transformer_viz.theme import GRID, LIGHT, Theme
from transformer_viz.views.wording import plain_tooltip

LARGEST_FIT = 40 * GRID  # pixels: the largest cell of a map shown as a whole
LARGEST_CELL = 48 * GRID  # … and of one zoomed into
MARGIN = 4 * GRID
_FADED = 0.55  # how much of the paper covers a stale map


@dataclass(frozen=True, slots=True)
class MatrixPicture:
    """What the canvas shows: codes, uint8 [Q, K], and the tokens of both axes.

    `predicted`: what each row predicts, [Q], or nothing; `masked`: whether some cells are.
    """

    pyramid: Pyramid
    rows: tuple[Token, ...]
    columns: tuple[Token, ...]
    predicted: tuple[Token, ...]
    masked: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)


class MatrixCanvas(pg.GraphicsView):
    cellHovered = Signal(object, object)  # query, key: int | None
    cellClicked = Signal(object, object)

    def __init__(self) -> None:
        super().__init__(background=None)
        self.setCacheMode(self.CacheModeFlag.CacheNone)
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self._theme = LIGHT
        self._table = np.zeros((256, 4), np.uint8)
        self._picture: MatrixPicture | None = None
        self._focus: Cell = (None, None)
        self._pinned: Cell = (None, None)
        self._stale = False
        self._area = QRectF()  # where cells may be, in pixels
        self._whole = QRectF()  # the range, in cells, that shows the whole map in it
        self._rows_room = self._columns_room = 0.0
        self._box = pg.ViewBox(
            lockAspect=True, invertY=True, enableMenu=False, border=None, defaultPadding=0
        )
        self._image = pg.ImageItem(axisOrder="row-major")
        self._box.addItem(self._image)
        self.scene().addItem(self._box)
        self._box.sigRangeChanged.connect(self._show_level)
        self.sigDeviceRangeChanged.connect(lambda: self._arrange(fit=self.fitted))  # resized
        self.scene().sigMouseClicked.connect(self._on_click)

    # What is shown

    def set_theme(self, theme: Theme, table: np.ndarray) -> None:
        """`table`: RGBA uint8 [256, 4] by code."""
        self._theme, self._table = theme, table
        self._image.setLookupTable(table)
        self.viewport().update()

    def set_picture(self, picture: MatrixPicture | None) -> None:
        """Show another map; the zoom stays if the shape does."""
        old, self._picture = self._picture, picture
        if picture is None:
            self._image.clear()
        else:
            self._rows_room = axes.rows_room(self.font(), picture.rows, picture.predicted)
            self._columns_room = axes.columns_room(self.font(), picture.columns)
            same_shape = old is not None and old.shape == picture.shape
            self._arrange(fit=self.fitted or not same_shape)
            self._show_level()
        self.viewport().update()

    def set_marks(self, focus: Cell, pinned: Cell) -> None:
        self._focus, self._pinned = focus, pinned
        self.viewport().update()

    def set_stale(self, stale: bool) -> None:
        self._stale = stale
        self.viewport().update()

    # Geometry

    @property
    def cell(self) -> float:
        """The side of a cell in pixels."""
        return self._area.width() / self._box.viewRect().width()

    @property
    def fitted(self) -> bool:
        view = self._box.viewRect()
        return self._whole.isEmpty() or view.width() > 0.999 * self._whole.width()

    def fit(self) -> None:
        self._arrange(fit=True)

    def zoom(self, factor: float) -> None:
        """Magnify about the cell in focus, else about the middle."""
        query, key = self._focus
        center = self._box.viewRect().center()
        if key is not None:
            center.setX(key + 0.5)
        if query is not None:
            center.setY(query + 0.5)
        self._box.scaleBy((1 / factor, 1 / factor), center=center)

    def reveal(self, query: int, key: int) -> None:
        """Pan, if zoomed in, until the cell is inside the area."""
        view = self._box.viewRect()
        dx = min(key - view.left(), 0) + max(key + 1 - view.right(), 0)
        dy = min(query - view.top(), 0) + max(query + 1 - view.bottom(), 0)
        if not self.fitted and (dx or dy):
            self._box.translateBy(x=dx, y=dy)

    def cell_rect(self, query: int, key: int) -> QRectF:
        rows, columns = self._axes()
        x, y = columns.origin + key * columns.pitch, rows.origin + query * rows.pitch
        return QRectF(x, y, columns.pitch, rows.pitch)

    def matrix_rect(self) -> QRectF:
        """The visible part of the map, in pixels."""
        rows, columns = self._axes()
        corner = QPointF(columns.start, rows.start)
        return QRectF(corner, QPointF(columns.end, rows.end))

    def cell_at(self, point: QPointF) -> Cell:
        """The cell under a point; over a label, its row or column alone."""
        if self._picture is None:
            return None, None
        rows, columns = self._axes()
        query = math.floor((point.y() - rows.origin) / rows.pitch)
        key = math.floor((point.x() - columns.origin) / columns.pitch)
        in_rows = rows.start <= point.y() < rows.end
        if in_rows and columns.start <= point.x() < columns.end:
            return query, key
        if in_rows and point.x() < columns.start:
            return query, None
        if point.y() < rows.start:
            return None, axes.column_under(columns, point, rows.start, self.font())
        return None, None

    def _axes(self) -> tuple[Axis, Axis]:
        """Rows and columns, in pixels."""
        assert self._picture is not None
        area, view, cell = self._area, self._box.viewRect(), self.cell
        left, top = area.left() - view.left() * cell, area.top() - view.top() * cell
        rows, columns = self._picture.rows, self._picture.columns
        bottom = min(area.bottom(), top + len(rows) * cell)
        right = min(area.right(), left + len(columns) * cell)
        return (
            Axis(rows, top, cell, area.top(), bottom),
            Axis(columns, left, cell, area.left(), right),
        )

    def _arrange(self, *, fit: bool) -> None:
        """Divide the widget between labels, cells and colour bar."""
        picture = self._picture
        if picture is None:
            return
        queries, keys = picture.shape
        numbers = axes.numbers_width(self.font(), queries)
        rows_room = min(self._rows_room, 0.3 * self.width())
        left = math.ceil(MARGIN + numbers + 2 * GRID + rows_room + 2 * GRID)
        top = math.ceil(axes.columns_height(self.font(), self._columns_room) + GRID)
        right = max(colorbar.ROOM, axes.SLANT * self._columns_room) + MARGIN
        size = QSizeF(self.width() - left - right, self.height() - top - MARGIN)
        size = size.expandedTo(QSizeF(8 * GRID, 8 * GRID))
        cell = self._crisp(min(size.width() / keys, size.height() / queries, LARGEST_FIT))
        self._area = QRectF(QPointF(left, top), size)
        self._whole = QRectF(QPointF(0, 0), size / cell)
        self._box.setGeometry(self._area)
        self._box.setLimits(
            xMin=0,
            yMin=0,
            xMax=self._whole.width(),
            yMax=self._whole.height(),
            minXRange=min(size.width() / LARGEST_CELL, self._whole.width()),
        )
        if fit:
            self._box.setRange(self._whole, padding=0, disableAutoRange=True)

    def _crisp(self, cell: float) -> float:
        """Whole pixels, so that cells look alike, unless these are few."""
        pixels = cell * self.devicePixelRatioF()
        return cell if pixels < 2 * GRID else math.floor(pixels) / self.devicePixelRatioF()

    def _show_level(self) -> None:
        """Give the image the finest level of the pyramid of which no cell gets lost."""
        if self._picture is None or self._area.isEmpty():
            return
        pyramid = self._picture.pyramid
        number = pyramid.level(1 / (self.cell * self.devicePixelRatioF()))
        codes = pyramid.levels[number]
        if codes is not self._image.image:
            height, width = codes.shape
            self._image.setImage(codes, levels=(0, 255), lut=self._table)
            self._image.setRect(0, 0, width << number, height << number)

    # Painting

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        painter.fillRect(rect, self._theme.color("paper"))
        if self._picture is not None and self._picture.masked:
            matrix = self.matrix_rect()
            brush = hatch_brush(self._theme, matrix.topLeft(), self.devicePixelRatioF())
            painter.fillRect(matrix, brush)

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        if self._picture is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        matrix = self.matrix_rect()
        if self._stale:
            veil = self._theme.color("paper")
            veil.setAlphaF(_FADED)
            painter.fillRect(matrix, veil)
        painter.setPen(self._theme.color("accent" if self.hasFocus() else "border"))
        painter.drawRect(matrix)
        self._draw_labels(painter, matrix)
        self._draw_color_bar(painter, matrix)
        painter.setClipRect(matrix.adjusted(-2, -2, 2, 2))
        if self._pinned != self._focus:
            self._draw_cross(painter, self._pinned, 0.45)
        self._draw_cross(painter, self._focus, 1.0)

    def _draw_labels(self, painter: QPainter, matrix: QRectF) -> None:
        assert self._picture is not None
        rows, columns = self._axes()
        query, key = self._focus
        axes.draw_rows(
            painter,
            rows,
            self._picture.predicted,
            left=MARGIN,
            right=matrix.left() - 2 * GRID,
            font=self.font(),
            theme=self._theme,
            marked=query,
        )
        axes.draw_columns(
            painter,
            columns,
            bottom=matrix.top(),
            room=self._columns_room,
            font=self.font(),
            theme=self._theme,
            marked=key,
        )

    def _draw_color_bar(self, painter: QPainter, matrix: QRectF) -> None:
        assert self._picture is not None
        left = matrix.right() + 6 * GRID
        colorbar.draw_color_bar(
            painter,
            QRectF(left, matrix.top(), colorbar.ROOM, self.height() - matrix.top() - MARGIN),
            self._table,
            self._theme,
            self.font(),
            masked=self._picture.masked,
        )

    def _draw_cross(self, painter: QPainter, mark: Cell, opacity: float) -> None:
        """Frame a row, a column and where they meet, readable on every colour of the map."""
        query, key = mark
        matrix = self.matrix_rect()
        frames = []
        if query is not None:
            cell = self.cell_rect(query, 0)
            frames.append(QRectF(matrix.left(), cell.top(), matrix.width(), cell.height()))
        if key is not None:
            cell = self.cell_rect(0, key)
            frames.append(QRectF(cell.left(), matrix.top(), cell.width(), matrix.height()))
        accent = self._theme.color("accent")
        accent.setAlphaF(opacity)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(accent, 1))
        for frame in frames:
            painter.drawRect(frame)
        if query is not None and key is not None:
            rect = self.cell_rect(query, key)
            self._draw_cell_frame(painter, rect, accent)

    def _draw_cell_frame(self, painter: QPainter, rect: QRectF, accent: QColor) -> None:
        smallest = QRectF(rect.center() - QPointF(GRID, GRID), QSizeF(2 * GRID, 2 * GRID))
        rect = rect.united(smallest)  # findable where cells are smaller than a pixel
        halo = self._theme.color("paper")
        halo.setAlphaF(accent.alphaF())
        painter.setPen(QPen(halo, 4))
        painter.drawRect(rect)
        painter.setPen(QPen(accent, 2))
        painter.drawRect(rect)

    # Events

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if not event.buttons():
            self.cellHovered.emit(*self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.cellHovered.emit(None, None)

    def keyPressEvent(self, event: QEvent) -> None:
        event.ignore()  # the view around the canvas knows what keys mean

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and self._picture is not None:
            assert isinstance(event, QHelpEvent)
            self._show_tooltip(event)
            return True
        return super().viewportEvent(event)

    def _show_tooltip(self, event: QHelpEvent) -> None:
        """Over a label: the whole token."""
        assert self._picture is not None
        query, key = self.cell_at(QPointF(event.pos()))
        text = ""
        if key is None and query is not None:
            text = describe(self._picture.rows[query], query)
        elif query is None and key is not None:
            text = describe(self._picture.columns[key], key)
        QToolTip.showText(event.globalPos(), plain_tooltip(text) if text else "", self)

    def _on_click(self, event: "pg.GraphicsScene.mouseEvents.MouseClickEvent") -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self.cellClicked.emit(*self.cell_at(QPointF(event.scenePos())))
