"""A page of a lesson: what it says, its question, and the buttons that lead on."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QTextDocument, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from core.lessons.lesson import Lesson
from core.lessons.measures import filled
from core.trace.trace import Head, Trace
from transformer_viz.drawing.theme import GRID
from transformer_viz.lessons.lesson_question import LessonQuestion
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.text_line import label

_FEATURES = (
    QTextDocument.MarkdownFeature.MarkdownDialectCommonMark
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class LessonText(QTextBrowser):
    """Shows Markdown as text: no HTML, no pictures from elsewhere, no links that open."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setAccessibleName("Lesson")
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)

    def show_markdown(self, text: str) -> None:
        place = self.verticalScrollBar().value()
        self.document().setMarkdown(text, _FEATURES)
        self.verticalScrollBar().setValue(place)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return None


class LessonPage(QWidget):
    """One step of a lesson at a time."""

    stepWanted = Signal(int)  # 1 for the next step, -1 for the one before, 0 for this one again
    contentsWanted = Signal()
    answered = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lesson: Lesson | None = None
        self._index = 0
        self.title = label("title", wrap=True)
        self.place = label("faint")
        self.text = LessonText()
        self.question = LessonQuestion()
        self.problem = label("warning", wrap=True)
        self.contents = QPushButton("&Contents")
        self.back = QPushButton("&Back")
        self.again = QPushButton("&Show me")
        self.again.setToolTip("Show again what this step shows, whatever was changed since")
        self.next = QPushButton("&Next")
        self.next.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 3 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(self.place)
        column.addWidget(self.title)
        column.addWidget(self.text, 1)
        column.addWidget(self.question)
        column.addWidget(self.problem)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self.contents)
        row.addStretch(1)
        for button in (self.back, self.again, self.next):
            row.addWidget(button)
        column.addLayout(row)
        self.contents.clicked.connect(self.contentsWanted)
        self.back.clicked.connect(lambda: self.stepWanted.emit(-1))
        self.again.clicked.connect(lambda: self.stepWanted.emit(0))
        self.next.clicked.connect(lambda: self.stepWanted.emit(1))
        self.question.answered.connect(self.answered)
        self.problem.hide()

    def show_step(self, lesson: Lesson, index: int) -> None:
        """Show a step; its numbers and its answer come with `show_trace`."""
        self._lesson, self._index = lesson, index
        step, count = lesson.steps[index], len(lesson.steps)
        self.place.setText(f"{lesson.title} · step {index + 1} of {count}")
        self.title.setText(step.title)
        self.back.setEnabled(index > 0)
        self.next.setText("&Next" if index + 1 < count else "&Finish")
        self.text.verticalScrollBar().setValue(0)
        self.question.ask(step.question)
        self.say("")
        self.show_trace(None, None)
        announce(self.text, f"Step {index + 1} of {count}: {step.title}")

    def show_trace(self, trace: Trace | None, head: Head | None) -> None:
        """Fill in what is measured on this trace."""
        if self._lesson is None:
            return
        self.text.show_markdown(filled(self._lesson.steps[self._index].text, trace, head))
        if head is not None:
            self.question.show_trace(trace, head)

    def say(self, problem: str) -> None:
        """Show why a step cannot be shown; nothing for an empty text."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        announce(self.problem, problem)
