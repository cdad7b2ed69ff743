"""What is done to the model on purpose, what that changes, and the way back."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.gates.effect_line import EffectLine
from transformer_viz.gates.gate_effect import GateEffect
from transformer_viz.gates.gating import Change, Gating, log_probability
from transformer_viz.state.facing_words import facing_words
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import plain
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.translations import Translations
from transformer_viz.words.gate_wording import describe_changes
from transformer_viz.words.wording import plain_tooltip

SAME = "The translation stays the same."
FROM_A_FILE = (
    "This trace comes from a file, so its heads cannot be switched off; edit the text to "
    "translate it."
)
_LOG_PROBABILITY = (
    "Natural logarithm of the probability of a whole translation, Σ ln p(token | tokens "
    "before).\nbefore: the model's own translation, as it was trained\nnow: the translation "
    "shown, by the model as it is changed\nold translation now: the translation from before, by "
    "the model as it is changed"
)


class GateBar(QFrame):
    """Says what is not as it was trained and what that changes; visible only meanwhile."""

    def __init__(
        self,
        session: Session,
        gating: Gating,
        effect: GateEffect,
        actions: tuple[QAction, QAction, QAction],
        parent: QWidget | None = None,
    ) -> None:
        """Make the bar; `actions` measure the effect, prune to a file and switch all heads on."""
        super().__init__(parent)
        self._session = session
        self._gating = gating
        self.setObjectName("gate_bar")
        self.setAccessibleName("What is changed in the model")
        self.title = ElidedLabel("title")
        self.words = Translations(("before", "now"))
        self.message = QLabel()
        self.numbers = QLabel()
        for label in (self.message, self.numbers):
            label.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.numbers, "soft")
        self.numbers.setToolTip(plain_tooltip(_LOG_PROBABILITY))
        self.numbers.setAccessibleDescription(_LOG_PROBABILITY)
        self.effect = EffectLine(effect)
        self._lay_out([_button(action, self) for action in actions])

        gating.changed.connect(self._show_change)
        session.traceChanged.connect(self._show)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._show)
        self._show()

    def apply_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"#gate_bar {{ background: {theme.paper}; border: none;"
            f" border-left: 4px solid {theme.warning}; }}"
        )
        self.words.apply_theme(theme)

    def _lay_out(self, buttons: list[QPushButton]) -> None:
        first = QHBoxLayout()
        first.setSpacing(2 * GRID)
        first.addWidget(self.title, 1)
        first.addWidget(self.numbers)
        first.addSpacing(2 * GRID)
        for button in buttons:
            first.addWidget(button)
        last = QHBoxLayout()
        last.setSpacing(5 * GRID)
        last.addWidget(self.message)
        last.addWidget(self.effect, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 2 * GRID, 4 * GRID, 2 * GRID)
        column.setSpacing(GRID)
        column.addLayout(first)
        column.addWidget(self.words)
        column.addLayout(last)

    def _show(self) -> None:
        session = self._session
        self.setVisible(not session.is_intact)
        if not session.is_intact:
            self.title.setText(describe_changes(session.gates, session.switches, session.trace))
            self._show_change()

    def _show_change(self) -> None:
        change, trace = self._gating.change, self._session.trace
        differs = change is not None and not change.same
        self.words.setVisible(differs)
        self.message.setVisible(not differs)
        self.numbers.setVisible(change is not None)
        set_role(self.message, "error" if self._gating.problem else "soft")
        if change is None:
            from_a_file = trace is not None and not trace.has_ids
            waiting = "…" if trace is not None else ""
            self.message.setText(self._gating.problem or (FROM_A_FILE if from_a_file else waiting))
            return
        self.message.setText(self._gating.problem or SAME)
        self.numbers.setText(log_probabilities(change))
        if differs:
            before, after = change.before, change.after
            facing = facing_words(before.predicted_tokens, after.predicted_tokens)
            self.words.show_words(facing, before.translation, after.translation)


def log_probabilities(change: Change) -> str:
    """Describe the change: "log-probability: before −0.12 · now −0.30 · translation from before,
    now −2.41"."""
    values = [("before", log_probability(change.before)), ("now", log_probability(change.after))]
    if not change.same:
        values.append(("old translation now", change.kept))
    said = (f"{name} {'…' if value is None else signed(value)}" for name, value in values)
    return f"log-probability: {' · '.join(said)}"


def _button(action: QAction, parent: QWidget) -> QPushButton:
    """Runs the action, and is named and enabled as it is."""
    button = QPushButton(parent)
    button.clicked.connect(action.trigger)

    def follow() -> None:
        button.setText(plain(action.text()))
        button.setEnabled(action.isEnabled())

    action.changed.connect(follow)
    follow()
    return button
