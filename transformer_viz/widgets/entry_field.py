"""A line to type into: Enter sends what it says, Esc leaves."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from transformer_viz.drawing.theme import GRID
from transformer_viz.widgets.text_line import TextLine


class EntryField(TextLine):
    submitted = Signal(str)  # not blank
    left = Signal()  # by Esc, or because the focus went elsewhere

    def __init__(self, name: str, placeholder: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.setTextMargins(GRID, 0, GRID, 0)
        self.returnPressed.connect(self._send)

    def _send(self) -> None:
        if self.text().strip():
            self.submitted.emit(self.text())

    def event(self, event: QEvent) -> bool:
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()  # so that it comes here and not to the window's own Esc
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()
