"""What the pictures made of clickable parts share: hover, tooltip, focus, scrolling."""

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from transformer_viz.drawing.theme import LIGHT, Theme
from transformer_viz.words.wording import plain_tooltip


class PictureArea(QAbstractScrollArea):
    """A scrolled picture; subclasses paint, and say what lies at a point of the viewport."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)

    def offset(self) -> QPoint:
        """How far the picture is scrolled."""
        return QPoint(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        """The left button went down at a point of the picture."""
        raise NotImplementedError

    def hover(self, point: QPoint | None) -> None:
        """The pointer is at a point of the picture, or has left it."""
        raise NotImplementedError

    def explanation(self, point: QPoint) -> str:
        """The tooltip at a point of the picture, as plain text; empty for none."""
        raise NotImplementedError

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.press(event.position().toPoint() + self.offset(), event.modifiers())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the press was ours

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hover(event.position().toPoint() + self.offset())

    def leaveEvent(self, event: QEvent) -> None:
        self.hover(None)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.explanation(event.pos() + self.offset())
            shown = plain_tooltip(text) if text else ""
            QToolTip.showText(event.globalPos(), shown, self.viewport())
            return True
        return super().viewportEvent(event)
