"""A line of text that ends in "…" where it has no room."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import plain_tooltip


class ElidedLabel(QLabel):
    """A label that never widens its window; its tooltip has the whole line if it is cut."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self, role)

    def text(self) -> str:
        """The whole line."""
        return self._whole

    def setText(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        end = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self._whole, end, self.contentsRect().width())
        super().setText(shown)
        self.setToolTip("" if shown == self._whole else plain_tooltip(self._whole))
