"""Panels that hand the keyboard on to one of their parts."""

from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget


class Panel(QWidget):
    """What a focus proxy would do, but Qt moves a proxy to the end of the tab order."""

    def focus_part(self) -> QWidget:
        """What takes the keyboard when the panel is given it."""
        raise NotImplementedError

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_part().setFocus(event.reason())
