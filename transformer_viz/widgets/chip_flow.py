"""Tokens as chips that flow over a few lines and scroll beyond: what such rows share."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy, QToolTip, QWidget

from core.text.tokens import Token
from transformer_viz.drawing.chips import NORMAL, ChipSize, lay_out_chips
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.words.wording import plain_tooltip

MOST_LINES = 2
"""More lines are scrolled."""


class ChipFlow(QAbstractScrollArea):
    """A flow of chips; subclasses draw a chip and explain it."""

    clicked = Signal(int)  # index of a token
    hovered = Signal(object)  # index, or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self.tokens: tuple[Token, ...] = ()
        self.pointed: int | None = None
        self.size_of_chips = NORMAL
        self._laid_out: tuple[object, ...] = ()  # what the layout is of
        self._layout = lay_out_chips((), 0, self.font())
        self.setFrameShape(self.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)

    def draw(self, painter: QPainter, index: int, rect: QRectF) -> None:
        raise NotImplementedError

    def explanation(self, index: int) -> str:
        """The tooltip of a chip, as plain text."""
        raise NotImplementedError

    @property
    def pitch(self) -> int:
        """The distance from one line to the next."""
        return self.size_of_chips.fitted(self.font()).pitch

    def set_tokens(self, tokens: Sequence[Token]) -> None:
        self.pointed = None
        if tuple(tokens) != self.tokens:
            self.tokens = tuple(tokens)
            self._arrange()
        self.viewport().update()

    def set_chip_size(self, size: ChipSize) -> None:
        if size != self.size_of_chips:
            self.size_of_chips = size
            self._arrange()
            self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.viewport().update()

    def rect_of(self, index: int) -> QRectF:
        """Return where a chip is in the viewport."""
        return self._layout.rects[index].translated(0, -self.verticalScrollBar().value())

    def index_at(self, point: QPointF) -> int | None:
        point = point + QPointF(0, self.verticalScrollBar().value())
        rects = self._layout.rects
        seen = self._layout.between(point.y(), point.y())
        return next((index for index in seen if rects[index].contains(point)), None)

    def reveal(self, index: int) -> None:
        rect, bar = self._layout.rects[index], self.verticalScrollBar()
        if rect.top() < bar.value():
            bar.setValue(int(rect.top()))
        elif rect.bottom() > bar.value() + self.height():
            bar.setValue(int(rect.bottom()) - self.height() + GRID)

    def sizeHint(self) -> QSize:
        return QSize(60 * GRID, min(self._layout.height, MOST_LINES * self.pitch))

    def minimumSizeHint(self) -> QSize:
        return QSize(30 * GRID, self.sizeHint().height())

    def _arrange(self) -> None:
        width = self.width() - self.verticalScrollBar().sizeHint().width()
        wanted = self.tokens, width, self.size_of_chips, self.font()
        if wanted != self._laid_out:
            self._laid_out = wanted
            self._layout = lay_out_chips(self.tokens, width, self.font(), self.size_of_chips)
        height, bar = self.sizeHint().height(), self.verticalScrollBar()
        bar.setRange(0, max(0, self._layout.height - height))
        bar.setPageStep(height)
        bar.setSingleStep(self.pitch)
        if height != self.height():
            self.setFixedHeight(height)

    def paintEvent(self, event: QPaintEvent) -> None:
        offset = self.verticalScrollBar().value()
        seen = self._layout.between(event.rect().top() + offset, event.rect().bottom() + offset)
        with QPainter(self.viewport()) as painter:
            painter.setFont(self.size_of_chips.font(self.font()))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for index in seen:
                self.draw(painter, index, self.rect_of(index))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self.clicked.emit(index)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the press was ours

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self.index_at(event.position()))

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
            index = self.index_at(QPointF(event.pos()))
            text = plain_tooltip(self.explanation(index)) if index is not None else ""
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def _point(self, index: int | None) -> None:
        if index != self.pointed:
            self.pointed = index
            self.viewport().update()
            self.hovered.emit(index)
