"""A message box that shows every text as it stands, whatever markup a name looks like."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget


class QuestionBox(QMessageBox):
    """A message box that deletes itself when it is closed; all message boxes of the application are
    of this kind."""

    def __init__(self, title: str, text: str, details: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setIcon(QMessageBox.Icon.Question)
        self.setWindowTitle(title)
        self.setText(text)
        self.setInformativeText(details)
        for label in self.findChildren(QLabel):  # setTextFormat would leave out the details
            label.setTextFormat(Qt.TextFormat.PlainText)
