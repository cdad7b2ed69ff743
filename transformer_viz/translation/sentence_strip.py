"""The translation of a text of several sentences, and the steps from one of them to the next."""

from bisect import bisect_right
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QTextCharFormat
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QToolTip, QWidget

from core.text.sentences import Span
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.state.session import Session
from transformer_viz.translation.growing_text import GrowingText, clean
from transformer_viz.translation.sentences import Answer, Sentences
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_size import set_height
from transformer_viz.widgets.transport import transport_icon
from transformer_viz.words.wording import plain_tooltip

MOST_LINES = 2
HEIGHT = 7 * GRID
PENDING, FAILED, EMPTY = "…", "⚠", "–"
_SENTENCES = "sentences"  # marks


class SentenceStrip(QWidget):
    """There only for a text of two sentences or more. A click into the translation, or the cursor
    in it, chooses the sentence shown."""

    def __init__(
        self, session: Session, sentences: Sentences, choose: Callable[[int], object]
    ) -> None:
        """`choose`: shows another sentence, by its number."""
        super().__init__()
        self._session = session
        self._sentences = sentences
        self._choose = choose
        self._theme = LIGHT
        self._setting = False  # the text and the cursor are being set
        self._spans: tuple[Span, ...] = ()  # of the translations
        self.back = self._button("Previous sentence", "Alt+PgUp", -1)
        self.forward = self._button("Next sentence", "Alt+PgDown", 1)
        self.position = QLabel()
        self.position.setTextFormat(Qt.TextFormat.PlainText)
        self.position.setAccessibleName("Sentence shown")
        set_role(self.position, "soft")
        for widget in (self.back, self.forward, self.position):
            set_height(widget, HEIGHT)
        self.text = _Text(self._explanation)
        self.text.cursorPositionChanged.connect(self._on_caret)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        for widget in (self.back, self.forward):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        row.addSpacing(GRID)
        row.addWidget(self.position, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        for changed in (session.traceChanged, sentences.changed):
            changed.connect(self._follow)
        self.apply_theme(LIGHT)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.back.setIcon(transport_icon(theme, "<"))
        self.forward.setIcon(transport_icon(theme, ">"))
        self._follow()

    def _follow(self) -> None:
        session = self._session
        count, index = len(session.passage.spans), session.index
        self.setVisible(count > 1)
        if count < 2:
            return
        self.back.setEnabled(index > 0)
        self.forward.setEnabled(index < count - 1)
        position = f"{index + 1:,} of {count:,}"
        self.position.setText(position)
        said = [self._said(number, answer) for number, answer in enumerate(self._sentences.answers)]
        text, self._spans = session.passage.placed(said)
        self._setting = True
        if text != self.text.toPlainText():
            self.text.replace_text(text)
        if self._at(self.text.caret) != index:
            self.text.set_caret(self._spans[index].start)
        self._setting = False
        self._mark(*self._spans[index], len(text))
        announce(self.text, f"Sentence {position}: {said[index]}")

    def _mark(self, start: int, end: int, length: int) -> None:
        """The sentence shown stands on a ground of its own, the others step back."""
        shown, other = QTextCharFormat(), QTextCharFormat()
        shown.setBackground(self._theme.color("accent_soft"))
        other.setForeground(self._theme.color("soft"))
        marks = [(start, end, shown), (0, start, other), (end, length, other)]
        self.text.mark(_SENTENCES, marks)

    def _said(self, number: int, answer: Answer | None) -> str:
        """The translation of a sentence, of the one shown that of its trace."""
        session = self._session
        trace = session.trace
        if trace is not None and number == session.index and session.is_answered:
            answer = Answer(trace.translation)
        if answer is None:
            return PENDING
        return clean(answer.translation) or (FAILED if answer.problem else EMPTY)

    def _at(self, character: int) -> int:
        return max(0, bisect_right([span.start for span in self._spans], character) - 1)

    def _on_caret(self) -> None:
        if not self._setting and not self.text.textCursor().hasSelection():
            self._choose(self._at(self.text.caret))

    def _explanation(self, character: int) -> str:
        """The sentence that the translation at a character is of."""
        passage, number = self._session.passage, self._at(character)
        answer = self._sentences.answers[number]
        lines = [
            f"sentence {number + 1:,} of {len(passage.spans):,}",
            passage.sentence(number),
            answer.problem if answer else "being translated",
        ]
        return "\n".join(filter(None, lines))

    def _button(self, name: str, keys: str, step: int) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(name)
        button.setToolTip(plain_tooltip(f"{name} ({keys})"))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self._choose(self._session.index + step))
        return button


class _Text(GrowingText):
    """To be read, selected and copied."""

    def __init__(self, explain: Callable[[int], str]) -> None:
        super().__init__(MOST_LINES)
        self._explain = explain
        self.setReadOnly(True)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setAccessibleName("Whole translation")
        set_role(self, "quiet")

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip:
            assert isinstance(event, QHelpEvent)
            character = self.character_at(event.pos())
            text = "" if character is None else plain_tooltip(self._explain(character))
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)
