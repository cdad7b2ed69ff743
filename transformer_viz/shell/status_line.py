"""The bottom line: what is selected, in words; what runs, and how long it took."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QStatusBar, QWidget

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.session import Phase, Session, Status
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import describe_selection, plain_tooltip


class StatusLine(QStatusBar):
    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setSizeGripEnabled(False)
        self.setContentsMargins(3 * GRID, GRID, 3 * GRID, GRID)
        self._selection = self._label("Selection")
        self._selection.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._state = self._label("State")
        self._state.setMinimumWidth(1)  # a long sentence does not widen the window
        self.addWidget(self._selection, 1)
        self.addPermanentWidget(self._state)
        for changed in (
            *(session.selectionChanged, session.hoverChanged, session.traceChanged),
            session.optionsChanged,
        ):
            changed.connect(self._show_selection)
        self.messageChanged.connect(self._show_selection)
        session.statusChanged.connect(self._show_state)
        self._show_state(session.status)

    def apply_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QStatusBar {{ border-top: 1px solid {theme.line}; }}QStatusBar::item {{ border: 0; }}"
        )

    def _label(self, name: str) -> QLabel:
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setAccessibleName(name)
        set_role(label, "soft")
        return label

    def _show_selection(self) -> None:
        """Show the selection, unless a message has the line: Qt hides what a message covers, but
        shows it again when the height of the line changes."""
        described = "" if self._session.trace is None else describe_selection(self._session)
        self._selection.setText("" if self.currentMessage() else described)
        self._selection.setAccessibleDescription(described)

    def _show_state(self, status: Status) -> None:
        text = status.message
        if status.phase is Phase.READY and status.milliseconds is not None:
            text = f"translated in {status.milliseconds:.0f} ms"
        elif status.phase is Phase.EMPTY:
            text = "ready"
        set_role(self._state, "error" if status.phase is Phase.FAILED else "soft")
        self._state.setText(text)
        self._state.setToolTip(plain_tooltip(text) if text else "")
