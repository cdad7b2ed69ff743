"""A frame around the part of the window that a step speaks of."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from transformer_viz.drawing.theme import LIGHT, Theme

WIDTH = 3  # px
_FOLLOWED = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class Ring(QWidget):
    """Lies over a widget, follows it, and lets clicks and keys through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._target: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def put_around(self, target: QWidget | None) -> None:
        """Frame a widget of the same window; None takes the frame away."""
        for watched in self._watched():
            watched.removeEventFilter(self)
        self._target = target
        for watched in self._watched():
            watched.installEventFilter(self)
        self._follow()

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _FOLLOWED:
            self._follow()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("accent"), WIDTH))
        half = WIDTH // 2 + 1
        painter.drawRoundedRect(self.rect().adjusted(half, half, -half, -half), 6, 6)

    def _watched(self) -> list[QWidget]:
        """The target and what it lies in, whose moves are the target's as well."""
        watched: list[QWidget] = []
        widget = self._target
        while widget is not None and widget is not self.parentWidget():
            watched.append(widget)
            widget = widget.parentWidget()
        return watched

    def _follow(self) -> None:
        target, window = self._target, self.parentWidget()
        if target is None or window is None or not target.isVisible():
            self.hide()
            return
        corner = target.mapTo(window, target.rect().topLeft())
        self.setGeometry(QRect(corner, target.size()).adjusted(-WIDTH, -WIDTH, WIDTH, WIDTH))
        self.show()
        self.raise_()
