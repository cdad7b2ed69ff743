"""A widget that is one picture, to look at, to point at, and to paint into a file."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from transformer_viz.drawing.theme import GRID, LIGHT, Theme


class Picture(QWidget):
    """A widget that is a picture; subclasses paint, and say what to frame while they have the
    keyboard."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def paint(self, painter: QPainter) -> None:
        """Paint everything but the ground and the frame, on any device, as large as the widget."""
        raise NotImplementedError

    def paint_screen(self, painter: QPainter) -> None:
        """The same, from parts that were kept if that is faster."""
        self.paint(painter)

    def frame(self) -> QRectF | None:
        """What is framed while it has the keyboard; None where there is nothing to operate."""
        raise NotImplementedError

    def minimumSizeHint(self) -> QSize:
        return QSize(60 * GRID, 40 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.theme.color("paper"))
        self.paint_screen(painter)
        frame = self.frame() if self.hasFocus() else None
        if frame is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self.theme.color("accent"))
            painter.drawRect(frame)

    def focusInEvent(self, event: QEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.update()
