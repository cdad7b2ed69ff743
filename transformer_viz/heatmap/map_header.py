"""What stands above a map: what it shows, in which form, and what has to be said about it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.heatmap.map_notes import EXPLANATORY, LABELS
from transformer_viz.heatmap.map_options import MapOptions
from transformer_viz.heatmap.quantity_choice import QuantityChoice
from transformer_viz.state.options import Scale
from transformer_viz.state.session import Session
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.wording import plain_tooltip


class MapHeader(QWidget):
    """The header of the heatmap: title, options and notes.

    Attributes:
        stretch: offered where the scale shows next to nothing.
        state: what is being computed.
        notes: sentences about the map.
        error: in their place, why the sentence was not translated.
        said: the notes as a whole, for a file.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._compact, self._there = False, True
        self._notes: Sequence[str] = ()
        self.title = ElidedLabel("title")
        set_font(self.title, 1.15, bold=True)
        self.stretch = QPushButton("Use per-head scale")
        self.stretch.setToolTip("Stretch the colours to the largest weight of each map")
        self.stretch.clicked.connect(lambda: session.change_options(scale=Scale.HEAD))
        self.stretch.hide()
        self.state = _label("soft")
        self.state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.quantity = QuantityChoice(session)
        self.controls = MapOptions(session)
        self.notes, self.error = _label("soft"), _label("error")
        self.notes.setWordWrap(True)
        self.error.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.notes.setToolTip(plain_tooltip(LABELS))
        self._head = QHBoxLayout()
        self._head.setSpacing(3 * GRID)
        self._head.addWidget(self.title, 1)
        self._head.addWidget(self.state)
        self._head.addWidget(self.stretch)
        self._head.addWidget(self.quantity)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        self._column.setSpacing(GRID)
        self._column.addLayout(self._head)
        for widget in (self.controls, self.notes, self.error):
            self._column.addWidget(widget)

    def apply_theme(self, theme: Theme) -> None:
        self.controls.apply_theme(theme)

    @property
    def said(self) -> str:
        return " ".join(self._notes)

    def set_compact(self, compact: bool) -> None:
        """Use one line where the map needs the height: the inspector has the title too, and the
        explanation is the tooltip of the quantity."""
        if compact == self._compact:
            return
        self._compact = compact
        if compact:
            self._column.removeWidget(self.controls)
            self._head.insertWidget(0, self.controls, 1)
        else:
            self._head.removeWidget(self.controls)
            self._column.insertWidget(1, self.controls)
        self._head.setSpacing((2 if compact else 3) * GRID)
        self.controls.set_compact(compact)
        self.set_trace_there(self._there)
        self._fill_notes()

    def set_trace_there(self, there: bool) -> None:
        self._there = there
        for widget in (self.quantity, self.controls):
            widget.setVisible(there)
        self.title.setVisible(there and not self._compact)

    def show_notes(self, notes: Sequence[str]) -> None:
        """Show those of `map_notes`, the explanations first."""
        self._notes = notes
        self._fill_notes()

    def _fill_notes(self) -> None:
        self.notes.setText(" ".join(self._notes[EXPLANATORY:] if self._compact else self._notes))

    def show_error(self, message: str) -> None:
        """Show an error in place of the notes and no less high, so that the map stays; "" for
        none."""
        self.error.setMinimumHeight(0 if self._compact else self.notes.height())
        self.error.setText(message)
        self.error.setVisible(bool(message))


def _label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    set_role(label, role)
    return label
