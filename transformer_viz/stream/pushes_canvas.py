"""What the chosen heads add directly to the logits, as a picture."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from transformer_viz.engine.readings import Pushes
from transformer_viz.stream.draw_pushes import draw_pushes, pushes_in_words, pushes_size
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.scrolled_picture import ScrolledPicture


class PushesCanvas(ScrolledPicture):
    """← → go to the decoder rows beside, ↑ ↓ to the heads beside."""

    tokenMoved = Signal(int)
    headMoved = Signal(int)

    def __init__(self) -> None:
        super().__init__("The words that the head pushes up and down")
        self.pushes: Pushes | None = None

    def show_pushes(self, pushes: Pushes | None) -> None:
        self.pushes = pushes
        if pushes is not None:
            self.picture_changed()
            announce(self, pushes_in_words(pushes))

    @property
    def has_picture(self) -> bool:
        return self.pushes is not None

    def picture_size(self, width: int) -> QSize:
        assert self.pushes is not None
        return pushes_size(self.pushes, width, self.font())

    def draw(self, painter: QPainter, size: QSize) -> None:
        if self.pushes is not None:
            draw_pushes(painter, self.pushes, size, self.theme, self.font())

    def current_rect(self) -> QRectF | None:
        """Return the whole picture: the keys change what it is of."""
        return None if self.pushes is None else QRectF(self.viewport().rect())

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        """Nothing in it is chosen."""

    def hover(self, point: QPoint | None) -> None:
        """Nothing in it can be pointed at."""

    def explanation(self, point: QPoint) -> str:
        return ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Left:
                self.tokenMoved.emit(-1)
            case Qt.Key.Key_Right:
                self.tokenMoved.emit(1)
            case Qt.Key.Key_Up:
                self.headMoved.emit(-1)
            case Qt.Key.Key_Down:
                self.headMoved.emit(1)
            case _:
                event.ignore()
