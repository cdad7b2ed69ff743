"""One attention map, large: point at its cells, click them, zoom and pan."""

import math

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from transformer_viz.drawing.labels import describe_at
from transformer_viz.drawing.marks import Marks, draw_marks
from transformer_viz.drawing.matrix import (
    MatrixLayout,
    MatrixPicture,
    Style,
    cell_at,
    fit_matrix,
    matrix_image,
    paint_matrix,
)
from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.state.selection import Cell
from transformer_viz.words.wording import plain_tooltip

_FADED = 0.55  # how much of the paper covers a stale map
_WHEEL_STEP = 1.2  # by which a notch of the wheel magnifies
_NOTCH = 120  # of Qt's angle delta


class MatrixCanvas(QWidget):
    """A zoomable map; signals carry row and column of the given picture, or None."""

    cellHovered = Signal(object, object)  # row, column
    cellClicked = Signal(object, object, bool)  # …, whether beside what is pinned

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._table = np.zeros((256, 4), np.uint8)
        self._picture: MatrixPicture | None = None
        self._layout: MatrixLayout | None = None  # of the picture, if there is one
        self._opening = True  # shown as maps are at first: nobody has clicked, zoomed or panned yet
        self._image: QImage | None = None  # of the visible cells, made when next painted
        self._marks = Marks()
        self._stale = False
        self._pressed: QPoint | None = None
        self._dragged: QPointF | None = None  # where the last step of a drag ended
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    # What is shown

    def set_theme(self, theme: Theme, table: np.ndarray) -> None:
        """Use a theme; `table` is RGBA uint8 [256, 4] by code."""
        self._theme, self._table = theme, table
        self._repaint_cells()

    def set_picture(self, picture: MatrixPicture | None) -> None:
        """Show another map; the zoom stays if the shape does."""
        old, self._picture = self._picture, picture
        if picture is None:
            self._layout = None
        else:
            self._opening |= old is None or old.shape != picture.shape
            self._arrange()
        self._repaint_cells()

    def set_marks(self, marks: Marks) -> None:
        if marks != self._marks:
            moved = marks.pins != self._marks.pins
            self._marks = marks
            self.update()
            if self._opening and moved:
                self._arrange()

    def set_stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.update()

    # Geometry

    @property
    def picture(self) -> MatrixPicture | None:
        return self._picture

    @property
    def cell(self) -> float:
        """The side of a cell in pixels."""
        return self._layout.cell if self._layout else 0.0

    @property
    def fitted(self) -> bool:
        return self._layout is None or self._layout.fitted

    def fit(self) -> None:
        self._opening, self._layout = False, None
        self._arrange()

    def zoom(self, factor: float) -> None:
        """Magnify about the cell in focus, else about the middle."""
        if self._layout is None:
            return
        self._opening = False
        row, column = self._marks.focus
        at = self._layout.matrix.center()
        cell = self._layout.cell_rect(row or 0, column or 0).center()
        if column is not None:
            at.setX(cell.x())
        if row is not None:
            at.setY(cell.y())
        self._set_layout(self._layout.zoomed(factor, at))

    def reveal(self, row: int, column: int) -> None:
        """Pan, if zoomed in, until the cell is inside the area."""
        if self._layout is not None:
            self._opening = False
            self._set_layout(self._layout.revealing(row, column))

    def cell_rect(self, row: int, column: int) -> QRectF:
        return self._layout.cell_rect(row, column) if self._layout else QRectF()

    def matrix_rect(self) -> QRectF:
        """The visible part of the map, in pixels."""
        return self._layout.matrix if self._layout else QRectF()

    def cell_at(self, point: QPointF) -> Cell:
        """The cell under a point; over a label, its row or column alone."""
        if self._picture is None or self._layout is None:
            return None, None
        return cell_at(self._picture, self._layout, point, self.font())

    def paint_onto(self, painter: QPainter, resolution: float) -> None:
        """What is shown, with its pins and without what the pointer is on, at the painter's
        origin; `resolution`: pixels of the cells' image per unit of the painter."""
        if self._picture is not None and self._layout is not None:
            style = self._style()
            image = matrix_image(self._picture, self._layout, style, resolution)
            paint_matrix(painter, self._layout, self._picture, style, image, self.height())
            draw_marks(painter, self._layout, Marks(pins=self._marks.pins), self._theme)

    def _style(self) -> Style:
        return Style(self._theme, self._table, self.font())

    def _arrange(self) -> None:
        """Lay the picture out anew: as it opens, with the current pin in sight; magnified as
        before; or as a whole."""
        if self._picture is None:
            return
        old = self._layout
        layout = fit_matrix(
            self._picture, QSizeF(self.size()), self.font(), self.devicePixelRatioF()
        )
        if self._opening:
            layout = layout.opened(self.fontMetrics().height())
            for row, column in self._marks.pins[-1:]:
                layout = layout.revealing(row or 0, column or 0)
        elif old is not None and not old.fitted:
            shift = layout.area.topLeft() - old.area.topLeft()
            layout = layout.zoomed(old.cell / layout.cell, layout.area.topLeft())
            dx, dy = old.left + shift.x() - layout.left, old.top + shift.y() - layout.top
            layout = layout.panned(dx, dy)
        self._set_layout(layout)

    def _set_layout(self, layout: MatrixLayout) -> None:
        if layout != self._layout:
            self._layout = layout
            self._repaint_cells()

    def _repaint_cells(self) -> None:
        self._image = None
        self.update()

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("paper"))
            if self._picture is not None and self._layout is not None:
                self._paint(painter, self._picture, self._layout)

    def _paint(self, painter: QPainter, picture: MatrixPicture, layout: MatrixLayout) -> None:
        style = self._style()
        if self._image is None:
            self._image = matrix_image(picture, layout, style, self.devicePixelRatioF())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focus = self._marks.focus
        paint_matrix(painter, layout, picture, style, self._image, self.height(), focus)
        if self._stale:
            veil = self._theme.color("paper")
            veil.setAlphaF(_FADED)
            painter.fillRect(layout.matrix, veil)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.color("accent"), 1))
            painter.drawRect(layout.matrix)
        draw_marks(painter, layout, self._marks, self._theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the view around the canvas knows what keys mean

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._layout is not None:
            self._opening = False
            factor = math.pow(_WHEEL_STEP, event.angleDelta().y() / _NOTCH)
            self._set_layout(self._layout.zoomed(factor, event.position()))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._opening = False
            self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():
            self.cellHovered.emit(*self.cell_at(event.position()))
        elif self._pressed is not None and self._layout is not None:
            self._drag(event.position(), self._pressed, self._layout)

    def _drag(self, point: QPointF, pressed: QPoint, layout: MatrixLayout) -> None:
        if self._dragged is None:
            far = (point.toPoint() - pressed).manhattanLength()
            if far < QApplication.startDragDistance():
                return
            self._dragged = QPointF(pressed)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        step = point - self._dragged
        self._dragged = point
        self._set_layout(layout.panned(step.x(), step.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        if self._dragged is None:
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.cellClicked.emit(*self.cell_at(event.position()), beside)
        self._pressed = self._dragged = None
        self.unsetCursor()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.cellHovered.emit(None, None)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and self._picture is not None:
            assert isinstance(event, QHelpEvent)
            self._show_tooltip(event, self._picture)
            return True
        return super().event(event)

    def _show_tooltip(self, event: QHelpEvent, picture: MatrixPicture) -> None:
        """Over a label: the whole token."""
        row, column = self.cell_at(QPointF(event.pos()))
        text = ""
        if column is None and row is not None:
            text = describe_at(picture.rows, row)
        elif row is None and column is not None:
            text = describe_at(picture.columns, column)
        QToolTip.showText(event.globalPos(), plain_tooltip(text) if text else "", self)
