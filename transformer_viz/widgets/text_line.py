"""A line to type in, into which no file can be dropped, and ones of plain text to read."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy

from transformer_viz.widgets.style import set_role


class TextLine(QLineEdit):
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():  # a file manager sends their names as text, too
            event.ignore()
        else:
            super().dragEnterEvent(event)


class PlainLabel(QLabel):
    """A label that shows its text as it stands, whatever markup it looks like."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)


def label(role: str, *, wrap: bool = False) -> QLabel:
    """A line of plain text that never makes its window wider."""
    made = PlainLabel()
    made.setWordWrap(wrap)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(wrap)
    made.setSizePolicy(policy)
    set_role(made, role)
    return made
