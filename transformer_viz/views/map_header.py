"""What stands above a map: what it shows, in which form, and what has to be said about it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from transformer_viz.session import Session
from transformer_viz.theme import GRID, Theme, scaled_font, set_role
from transformer_viz.views.elided_label import ElidedLabel
from transformer_viz.views.map_notes import LABELS
from transformer_viz.views.map_options import MapOptions
from transformer_viz.views.quantity_choice import QuantityChoice
from transformer_viz.views.wording import plain_tooltip


class MapHeader(QWidget):
    """
    Attributes:
        state: what is being computed.
        notes: sentences about the map.
        error: in their place, why the sentence was not translated.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ElidedLabel("title")
        self.title.setFont(scaled_font(self.font(), 1.15, bold=True))
        self.state = _label("soft")
        self.state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.quantity = QuantityChoice(session)
        self.controls = MapOptions(session)
        self.notes, self.error = _label("soft"), _label("error")
        self.notes.setWordWrap(True)
        self.error.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.notes.setToolTip(plain_tooltip(LABELS))
        head = QHBoxLayout()
        head.setSpacing(3 * GRID)
        head.addWidget(self.title, 1)
        head.addWidget(self.state)
        head.addWidget(self.quantity)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        column.setSpacing(GRID)
        column.addLayout(head)
        for widget in (self.controls, self.notes, self.error):
            column.addWidget(widget)

    def apply_theme(self, theme: Theme) -> None:
        self.controls.apply_theme(theme)

    def set_trace_there(self, there: bool) -> None:
        for widget in (self.title, self.quantity, self.controls):
            widget.setVisible(there)

    def show_error(self, message: str) -> None:
        """In place of the notes and no less high, so that the map stays; "" for none."""
        self.error.setMinimumHeight(self.notes.height())
        self.error.setText(message)
        self.error.setVisible(bool(message))


def _label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    set_role(label, role)
    return label
