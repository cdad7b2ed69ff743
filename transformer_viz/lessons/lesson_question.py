"""The question of a step: its answer is asked for before it is told."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from core.lessons.measures import filled, shown
from core.lessons.question import AnswerKind, Question
from core.trace.trace import Head, Trace
from transformer_viz.drawing.theme import GRID
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel

TRIES = 2


class LessonQuestion(QWidget):
    """Asks, and compares each answer with what the model does at that moment.

    After `TRIES` wrong answers, or when it is asked to, it tells the right one.
    """

    answered = Signal(bool)  # whether it was right

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question: Question | None = None
        self._trace: Trace | None = None
        self._head: Head | None = None
        self._tries = 0
        self.text = _wrapping("title")
        self.words = QComboBox()
        self.words.setAccessibleName("Your answer")
        self.number = QLineEdit()
        self.number.setAccessibleName("Your answer")
        self.number.setPlaceholderText("a number")
        self.yes, self.no = QPushButton("&Yes"), QPushButton("N&o")
        self.answer = QPushButton("&Answer")
        self.tell = QPushButton("&Tell me")
        self.tell.setToolTip("Show the right answer")
        self.verdict = _wrapping("soft")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addWidget(self.text)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        for widget in (self.words, self.number, self.yes, self.no, self.answer, self.tell):
            row.addWidget(widget)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.verdict)
        self.answer.clicked.connect(self._on_answer)
        self.number.returnPressed.connect(self._on_answer)
        self.yes.clicked.connect(lambda: self._try("yes"))
        self.no.clicked.connect(lambda: self._try("no"))
        self.tell.clicked.connect(self._reveal)
        self.hide()

    def ask(self, question: Question | None) -> None:
        """Ask a question, or nothing; what is answered is known once `show_trace` was called."""
        self._question, self._tries = question, 0
        self._trace = self._head = None
        self.setVisible(question is not None)
        if question is None:
            return
        self.text.setText(question.text)
        self.words.clear()
        kind = question.kind
        self.words.setVisible(kind is AnswerKind.WORD)
        self.number.setVisible(kind is AnswerKind.NUMBER)
        self.number.clear()
        for button in (self.yes, self.no):
            button.setVisible(kind is AnswerKind.YES)
        self.answer.setVisible(kind is not AnswerKind.YES)
        self._say("", "soft")
        self._enable(False)

    def show_trace(self, trace: Trace | None, head: Head) -> None:
        """Take the trace and the head from which the right answer is computed."""
        if self._question is None:
            return
        self._trace, self._head = trace, head
        try:
            if trace is None:
                raise UserError("The model has not answered yet.")
            self._question.right(trace, head)
        except UserError as error:
            self._say(f"This cannot be asked now: {error}", "warning")
            self._enable(False)
            return
        if self._tries == 0:
            choices = self._question.choices(trace, head)
            if [self.words.itemText(at) for at in range(self.words.count())] != choices:
                self.words.clear()
                self.words.addItems(choices)
            self._say("", "soft")
            self._enable(True)

    def _on_answer(self) -> None:
        kind = None if self._question is None else self._question.kind
        self._try(self.words.currentText() if kind is AnswerKind.WORD else self.number.text())

    def _try(self, answer: str) -> None:
        question, trace, head = self._question, self._trace, self._head
        if question is None or trace is None or head is None:
            return
        try:
            right = question.is_right(answer, trace, head)
        except UserError as error:
            self._say(str(error), "warning")
            return
        self._tries += 1
        if right:
            self._end(f"Right. {self._reason()}".strip())
        elif self._tries < TRIES and question.kind is not AnswerKind.YES:
            self._say(f"Not {answer.strip()}. Look again, and try once more.", "warning")
        else:
            self._end(f"Not quite. {self._right()} {self._reason()}".strip())
        self.answered.emit(right)

    def _reveal(self) -> None:
        self._end(f"{self._right()} {self._reason()}".strip())

    def _right(self) -> str:
        assert self._question is not None
        assert self._trace is not None
        assert self._head is not None
        return f"The answer is {shown(self._question.right(self._trace, self._head))}."

    def _reason(self) -> str:
        assert self._question is not None
        assert self._head is not None
        return filled(self._question.because, self._trace, self._head)

    def _end(self, text: str) -> None:
        self._tries = TRIES
        self._say(text, "")
        self._enable(False)

    def _say(self, text: str, role: str) -> None:
        self.verdict.setText(text)
        set_role(self.verdict, role)
        self.verdict.setVisible(bool(text))
        announce(self.verdict, text)

    def _enable(self, on: bool) -> None:
        for widget in (self.words, self.number, self.yes, self.no, self.answer, self.tell):
            widget.setEnabled(on)


def _wrapping(role: str) -> PlainLabel:
    label = PlainLabel()
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    set_role(label, role)
    return label
