"""What stands in the place of a picture while there is none."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from transformer_viz.drawing.theme import GRID
from transformer_viz.state.session import Phase, Status
from transformer_viz.widgets.style import set_role

ONLY_SPECIALS = (
    "There are only special tokens here, and they are hidden",
    "Turn off “Hide special tokens” to see them.",
)
"""What to say of a text of which the options leave nothing."""

_HINTS = {
    Phase.LOADING: "The view appears as soon as the model is ready.",
    Phase.EMPTY: "Type an English sentence above to see where each head looks.",
    Phase.BUSY: "The view appears with the translation.",
    Phase.READY: "",
    Phase.FAILED: "Nothing is lost: change the text or open another model.",
}


class Placeholder(QWidget):
    """A centred headline that says what to do next."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._headline, self._hint = QLabel(), QLabel()
        lines = QVBoxLayout(self)
        lines.setContentsMargins(8 * GRID, 8 * GRID, 8 * GRID, 8 * GRID)
        lines.addStretch(2)
        for label, role in ((self._headline, "title"), (self._hint, "soft")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            set_role(label, role)
            lines.addWidget(label)
        lines.addStretch(3)

    def sizeHint(self) -> QSize:
        """Return no more room than the picture would have."""
        return self.minimumSizeHint()

    def show_status(self, status: Status) -> None:
        """Explain why there is no trace to draw yet, and what helps."""
        warning = "⚠ " * (status.phase is Phase.FAILED)
        self.say(f"{warning}{status.message}" or "No sentence yet", _HINTS[status.phase])

    def say(self, headline: str, hint: str) -> None:
        self._headline.setText(headline)
        self._hint.setText(hint)
