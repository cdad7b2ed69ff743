"""A painted list of rows with one current row: what the lists of this view share."""

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from transformer_viz.drawing.theme import GRID, LIGHT, Theme, taller
from transformer_viz.widgets.accessibility import announce
from transformer_viz.words.wording import plain_tooltip


class RowList(QAbstractScrollArea):
    """A list of rows that subclasses paint and describe. ↑ ↓ move the current row, Enter or a click
    choose."""

    chosen = Signal(int)
    rowPointed = Signal(object)  # int | None

    def __init__(
        self, row_height: int, parent: QWidget | None = None, *, row_lines: int = 1
    ) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self.current = 0
        self.pointed: int | None = None
        self._row_height, self._row_lines = row_height, row_lines
        self._count = 0
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)

    def draw(self, painter: QPainter, row: int, rect: QRect) -> None:
        raise NotImplementedError

    def describe(self, row: int) -> str:
        """The row in words, for tooltips and screen readers."""
        raise NotImplementedError

    @property
    def row_height(self) -> int:
        return taller(self._row_height, self.font(), self._row_lines)

    @property
    def count(self) -> int:
        return self._count

    def set_rows(self, count: int, current: int) -> None:
        self._count = count
        self.pointed = None
        self._set_scroll()
        self.set_current(current)
        self.viewport().update()

    def set_current(self, row: int) -> None:
        self.current = max(0, min(row, self._count - 1))
        if self._count:
            announce(self, self.describe(self.current))
            rect, bar = self.row_rect(self.current), self.verticalScrollBar()
            if rect.top() < 0:
                bar.setValue(bar.value() + rect.top())
            elif rect.bottom() > self.viewport().height():
                bar.setValue(bar.value() + rect.bottom() - self.viewport().height() + 1)
        self.viewport().update()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.viewport().update()

    def row_rect(self, row: int) -> QRect:
        """Return a row's rectangle in the viewport."""
        top = row * self.row_height - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self.row_height)

    def row_at(self, point: QPoint) -> int | None:
        row = (point.y() + self.verticalScrollBar().value()) // self.row_height
        return row if 0 <= row < self._count else None

    def sizeHint(self) -> QSize:
        return QSize(60 * GRID, self._count * self.row_height)

    def minimumSizeHint(self) -> QSize:
        return QSize(40 * GRID, self.row_height)

    def _set_scroll(self) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(0, self._count * self.row_height - height))
        bar.setPageStep(height)
        bar.setSingleStep(self.row_height)
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for row in range(self._count):
                rect = self.row_rect(row)
                if rect.intersects(event.rect()):
                    self.draw(painter, row, rect)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._set_scroll()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_scroll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Up:
                self.set_current(self.current - 1)
            case Qt.Key.Key_Down:
                self.set_current(self.current + 1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._count:
                self.chosen.emit(self.current)
            case _:
                event.ignore()  # the view around knows what other keys mean

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self.press(row, event.position().toPoint())

    def press(self, row: int, _point: QPoint) -> None:
        self.set_current(row)
        self.chosen.emit(row)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the press was ours

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self.row_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            row = self.row_at(event.pos())
            text = plain_tooltip(self.describe(row)) if row is not None else ""
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def _point(self, row: int | None) -> None:
        if row != self.pointed:
            self.pointed = row
            self.viewport().update()
            self.rowPointed.emit(row)


class ChoosingList(RowList):
    """A list that chooses every row it moves to; Home and End lead to its ends."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        before = self.current
        self.move_by(event)
        if self.current != before:
            self.chosen.emit(self.current)

    def move_by(self, event: QKeyEvent) -> None:
        """Move the current row by a key; subclasses add keys of their own."""
        match event.key():
            case Qt.Key.Key_Home:
                self.set_current(0)
            case Qt.Key.Key_End:
                self.set_current(self.count - 1)
            case _:
                super().keyPressEvent(event)
