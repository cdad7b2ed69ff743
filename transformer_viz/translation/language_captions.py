"""What stands before the two texts: their languages; where a model has several, a choice."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget

from transformer_viz.drawing.chips import NORMAL
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.languages import UNKNOWN, asked_for, sides, token_label
from transformer_viz.state.session import Session
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_height

_NONE = "Choose a language"


class LanguageCaptions(QObject):
    """The session's text says which language is chosen, by the token that it begins with.

    Attributes:
        source: a label.
        target: a label, or the choice.
    """

    chosen = Signal(str)  # token, such as ">>deu<<"

    def __init__(self, session: Session, height: int) -> None:
        """Make the captions; `height` is that of a line of the source field, with usual text."""
        super().__init__(session)
        self._session = session
        self.source = _label(height)
        self._target = _label(NORMAL.height)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Target language")
        self.choice.setToolTip(
            "The language to translate into: the model has a token for each, placed at the start "
            "of the text."
        )
        self.choice.setPlaceholderText(_NONE)
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.choice.setMaximumWidth(48 * GRID)
        self.target = QWidget()
        row = QHBoxLayout(self.target)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._target)
        row.addWidget(self.choice)
        self.choice.activated.connect(self._on_activated)
        session.modelChanged.connect(self._on_model)
        session.textChanged.connect(self._show_choice)
        session.originChanged.connect(self._show_names)
        self._on_model()

    def _on_model(self) -> None:
        model = self._session.model
        self._tokens = () if model is None else model.languages
        self.choice.clear()
        self.choice.addItems([token_label(token) for token in self._tokens])
        self._show_choice()
        self._show_names()

    def _show_choice(self) -> None:
        asked = asked_for(self._session.text)
        self.choice.setCurrentIndex(self._tokens.index(asked) if asked in self._tokens else -1)

    def _show_names(self) -> None:
        """Of a trace from elsewhere nobody knows the languages."""
        from_elsewhere = bool(self._session.origin)
        source, target = UNKNOWN if from_elsewhere else sides(self._session.model)
        self.source.setText(source)
        self._target.setText(target)
        choosing = bool(self._tokens) and not from_elsewhere
        self.choice.setVisible(choosing)
        self._target.setVisible(not choosing)

    def _on_activated(self, index: int) -> None:
        self.chosen.emit(self._tokens[index])


def _label(height: int) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    set_height(label, height)
    set_role(label, "soft")
    return label
