"""Beside the map: the candidates of the step, other ways to go on, and the hypotheses."""

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from transformer_viz.decoding.candidate_list import CandidateList
from transformer_viz.decoding.candidate_rows import CandidateRow, draw_header
from transformer_viz.decoding.hypotheses_desk import Decoding
from transformer_viz.decoding.hypothesis_list import HypothesisList
from transformer_viz.drawing.theme import GRID, LIGHT, Theme, grown
from transformer_viz.state.hypotheses import Candidate, Hypothesis
from transformer_viz.widgets.entry_field import EntryField
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.wording import token_name

NARROWEST, WIDEST = 60 * GRID, 64 * GRID


class _CandidatesHeading(QLabel):
    """After which token, and what the two numbers of the rows below are."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = LIGHT
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setToolTip(
            "The most probable tokens at this step (softmax over the vocabulary).\nChoose "
            "another one, and decoding continues greedily from there as a new hypothesis."
        )
        set_role(self, "title")

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            draw_header(painter, QRectF(self.rect()), self._theme, self.font())


class DecodingSide(QWidget):
    def __init__(self, decoding: Decoding) -> None:
        super().__init__()
        self._decoding = decoding
        self._heading = _CandidatesHeading()
        self.candidates = CandidateList()
        self._note = _label("soft")
        self._note.setWordWrap(True)
        self.typed = EntryField("Another token for this step", "or type a word and press Enter")
        self.typed.setToolTip(
            "Type a replacement for this step's token; decoding continues greedily from there"
        )
        self.go_on = QPushButton("Continue greedily")
        self.go_on.setToolTip("Continue decoding from the end of this unfinished hypothesis")
        self.hypotheses = HypothesisList()
        self.target = EntryField("Your own translation", "Score your own translation…")
        self.target.setToolTip(
            "Teacher forcing: the probability of each token, given your tokens before it"
        )
        self._lay_out()
        self._fit_text()
        self.candidates.chosen.connect(self._take)
        self.typed.submitted.connect(self._type)
        self.go_on.clicked.connect(decoding.go_on)
        self.hypotheses.chosen.connect(lambda row: decoding.activate(self.hypotheses.number(row)))
        self.hypotheses.closed.connect(decoding.close)
        self.target.submitted.connect(decoding.score_target)

    def _lay_out(self) -> None:
        entry = QHBoxLayout()
        entry.setSpacing(2 * GRID)
        entry.addWidget(self.typed, 1)
        entry.addWidget(self.go_on)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._heading)
        column.addWidget(self.candidates, 3)
        column.addWidget(self._note)
        column.addLayout(entry)
        column.addSpacing(2 * GRID)
        column.addWidget(_label("title", "Hypotheses"))
        column.addWidget(self.hypotheses, 2)
        column.addWidget(self.target)
        for field in (self.typed, self.target):
            set_height(field, 7 * GRID)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_text()

    def _fit_text(self) -> None:
        self.setMinimumWidth(round(grown(NARROWEST, self.font())))
        self.setMaximumWidth(round(grown(WIDEST, self.font())))

    def apply_theme(self, theme: Theme) -> None:
        self._heading.apply_theme(theme)
        self.candidates.apply_theme(theme)
        self.hypotheses.apply_theme(theme)

    def show_hypotheses(self) -> None:
        decoding, active = self._decoding, self._decoding.active
        alpha, penalty = decoding.search.alpha, decoding.penalty
        self.hypotheses.show_hypotheses(decoding.hypotheses, active, alpha, penalty)
        self.go_on.setVisible(active is not None and not active.is_finished)
        possible = not decoding.obstacle
        for field in (self.typed, self.target):
            field.setEnabled(possible)

    def show_step(self, step: int) -> None:
        """The candidates of a step of the active hypothesis."""
        decoding, active = self._decoding, self._decoding.active
        if active is None or step >= len(active.ids):
            return
        fed = active.trace.target_tokens[step]
        self._heading.setText(f"After “{token_name(fed)}”")
        steps = decoding.candidates
        rows = () if steps is None else candidate_rows(active, step, steps[step])
        self.candidates.show_rows(rows)
        self._show_note()

    def _show_note(self) -> None:
        """What is going on, else why there is nothing to choose from."""
        decoding = self._decoding
        wrong = decoding.problem or (decoding.obstacle if decoding.candidates is None else "")
        self._note.setText(decoding.asking or wrong)
        self._note.setVisible(bool(self._note.text()))
        set_role(self._note, "soft" if decoding.asking or not decoding.problem else "error")

    def _take(self, row: int) -> None:
        decoding = self._decoding
        decoding.take(decoding.walk.step, self.candidates.candidate(row))

    def _type(self, text: str) -> None:
        starts_word = text[0].isalnum()
        self._decoding.type_token(self._decoding.walk.step, f" {text}" if starts_word else text)
        self.typed.clear()


def candidate_rows(
    hypothesis: Hypothesis, step: int, candidates: tuple[Candidate, ...]
) -> tuple[CandidateRow, ...]:
    """The most probable tokens, and below them the one taken if it is none of them."""
    taken = hypothesis.ids[step]
    rows = tuple(
        CandidateRow(one.token, one.log_probability, one.token.id == taken) for one in candidates
    )
    values = hypothesis.trace.log_probabilities
    if any(row.taken for row in rows) or values is None:
        return rows
    token = hypothesis.trace.predicted_tokens[step]
    return (*rows, CandidateRow(token, float(values[step]), taken=True, listed=False))


def _label(role: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    set_role(label, role)
    return label
