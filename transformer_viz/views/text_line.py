"""A line of text into which no file can be dropped: files are for the window to open."""

from PySide6.QtGui import QDragEnterEvent
from PySide6.QtWidgets import QLineEdit


class TextLine(QLineEdit):
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():  # a file manager sends their names as text, too
            event.ignore()
        else:
            super().dragEnterEvent(event)
