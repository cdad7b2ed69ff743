"""The text to translate: plain text, one to three lines, with doubtful words marked and the words
that are looked at shaded. Of several sentences one is shown, and the cursor chooses it."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QHBoxLayout, QWidget

from transformer_viz.drawing.shading import shaded
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.state.languages import TRAINED, UNKNOWN
from transformer_viz.state.linking import Place, source_shades
from transformer_viz.state.session import MAX_CHARACTERS, Session
from transformer_viz.translation.doubts import SourceDoubt, SourceMark
from transformer_viz.translation.growing_text import GrowingText, clean, explained
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel

MOST_LINES = 3
LINE_HEIGHT = 8 * GRID
"""Of a field of one line, with usual text."""
COUNTED_FROM = 0.8  # of the limit: the share from which the counter shows
FAINTEST = 0.02  # a smaller weight shades nothing
_LIT, _OTHERS = "lit", "others"  # marks in the text, beside those of `SourceDoubt`
_PROMPT = "Type a sentence…"


class SourceField(QWidget):
    """The sentence: Enter submits, Shift+Enter starts a line; ↑ ↓ at the edges browse history."""

    textEdited = Signal(str)  # by the user: typing, pasting, undo, history
    submitted = Signal(str)
    sentenceChosen = Signal(int)  # by the cursor, of several
    cut = Signal(str)  # a sentence: not all of what was pasted or dropped fits

    def __init__(
        self, session: Session, spotlight: Spotlight, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._spotlight = spotlight
        self._theme = LIGHT
        self._setting = False  # the text is being set, not edited
        self.editor = _Editor()
        self.counter = PlainLabel()
        self.counter.setAccessibleName("Characters used")
        self.counter.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * GRID)
        row.addWidget(self.editor, 1)
        row.addWidget(self.counter, 0, Qt.AlignmentFlag.AlignBottom)
        self.setFocusProxy(self.editor)

        self.editor.textChanged.connect(self._on_changed)
        self.editor.cursorPositionChanged.connect(self._on_caret)
        self.editor.entered.connect(lambda: self.submitted.emit(self.text()))
        self.editor.pointed.connect(self._point)
        self.editor.shortened.connect(
            lambda count: self.cut.emit(
                f"The text was cut: the limit is {MAX_CHARACTERS:,} characters, and the last "
                f"{count:,} were left out."
            )
        )
        spotlight.changed.connect(self._show_light)
        session.passageChanged.connect(self._show_sentence)
        self.set_language(TRAINED.source)
        self.set_text(session.text)

    def text(self) -> str:
        return self.editor.toPlainText()

    @property
    def caret(self) -> int:
        """The character that the cursor is before."""
        return self.editor.caret

    def set_text(self, text: str) -> None:
        """Replace the text, without `textEdited`."""
        self._setting = True
        self.editor.replace_text(text)
        self._setting = False

    def set_language(self, name: str) -> None:
        """What the sentence is written in, or "Source" where nobody knows."""
        known = name != UNKNOWN.source
        article = "an" if name[:1] in "AEIO" else "a"
        self.editor.setPlaceholderText(f"Type {article} {name} sentence…" if known else _PROMPT)
        self.editor.setAccessibleName(f"{name} sentence")

    def show_doubts(self, marks: Sequence[SourceMark]) -> None:
        """Mark words of the trace's text, with what is said of them as tooltips; the marks move
        with later edits. While the text runs ahead of its trace, the old ones stay."""
        if self._session.trace is not None and not self._is_answered():
            return
        origin, first = self._origin(), self._session.sentence_start
        for doubt in SourceDoubt:
            placed = []
            for mark in marks:
                start, end = mark.start + origin, mark.end + origin
                if mark.doubt is doubt and end > first:  # else of the language token alone
                    look = explained(_doubtful(self._theme, doubt), mark.about)
                    placed.append((max(start, first), end, look))
            self.editor.mark(doubt, placed)
        announce(self.editor, " ".join(mark.about for mark in marks))

    def set_history(self, texts: Sequence[str]) -> None:
        """Set the sentences to walk through, the newest first."""
        self.editor.history = tuple(texts)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        for doubt in SourceDoubt:
            self.editor.restyle(doubt, _doubtful(theme, doubt))
        self._show_sentence()
        self._show_light()

    # Pointing at words

    def _point(self, character: int | None) -> None:
        """Point at the token of this character, unless the text runs ahead of its trace."""
        trace, place = self._session.trace, None
        if trace is not None and character is not None and self._is_answered():
            character -= self._origin()
            for index, token in enumerate(trace.source_tokens):
                if token.start <= character < token.end:
                    place = Place("source", index)
        self._session.point(place)

    def _is_answered(self) -> bool:
        """Whether the trace shown is of the sentence shown."""
        return self._session.is_answered and self._session.text == self.text()

    def _origin(self) -> int:
        """Where the text of the trace begins in the text."""
        return self._session.passage.origin(self._session.index)

    def _show_light(self) -> None:
        """Shade the words that are looked at, underline the one pointed at; while the text runs
        ahead of its trace the shades stay with their words."""
        trace, linked = self._session.trace, self._spotlight.linked
        if trace is None or linked is None:
            self.editor.mark(_LIT, [])
        elif self._is_answered():
            origin, first = self._origin(), self._session.sentence_start
            pointed = linked.place.index if linked.place.side == "source" else None
            marks = []
            for index, weight in enumerate(source_shades(trace, linked)):
                token = trace.source_tokens[index]
                word = trace.text[token.start : token.end].lstrip()
                end = origin + token.end
                if word and end > first and (weight >= FAINTEST or index == pointed):
                    look = _lit(self._theme, weight, pointed=index == pointed)
                    marks.append((end - len(word), end, look))
            self.editor.mark(_LIT, marks)

    # One of several sentences

    def _show_sentence(self) -> None:
        """Let the others step back, and the cursor be in the one that is shown."""
        session, text = self._session, self.text()
        if len(session.passage.spans) < 2 or session.text != text:
            self.editor.mark(_OTHERS, [])
            return
        start, end = session.passage.spans[session.index]
        look = QTextCharFormat()
        look.setForeground(self._theme.color("soft"))
        self.editor.mark(_OTHERS, [(0, start, look), (end, len(text), look)])
        if session.passage.at(self.editor.caret) != session.index:
            self._setting = True
            self.editor.set_caret(start)
            self._setting = False

    def _on_caret(self) -> None:
        """Wherever the user puts it, unless the text is selected or runs ahead of the session."""
        session, editor = self._session, self.editor
        several = len(session.passage.spans) > 1
        if several and not self._setting and not editor.textCursor().hasSelection():
            index = session.passage.at(editor.caret)
            if index != session.index and session.text == self.text():
                self.sentenceChosen.emit(index)

    def _on_changed(self) -> None:
        count = len(self.text())
        self.counter.setVisible(count >= COUNTED_FROM * MAX_CHARACTERS)
        self.counter.setText(f"{count:,} / {MAX_CHARACTERS:,}")
        set_role(self.counter, "error" if count > MAX_CHARACTERS else "soft")
        if not self._setting:
            self.textEdited.emit(self.text())


class _Editor(GrowingText):
    entered = Signal()
    shortened = Signal(int)  # how many characters were not inserted
    pointed = Signal(object)  # the character under the pointer: int | None

    def __init__(self) -> None:
        super().__init__(MOST_LINES)
        self._pointed: int | None = None
        self.viewport().setMouseTracking(True)
        self.history: tuple[str, ...] = ()
        self._place = -1  # in the history; -1 is the draft
        self._draft = ""
        self._walking = False
        self.setUndoRedoEnabled(False)
        self.textChanged.connect(self._leave_history)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._set_pointed(self.character_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_pointed(None)

    def _set_pointed(self, character: int | None) -> None:
        if character != self._pointed:
            self._pointed = character
            self.pointed.emit(character)

    # History

    def _walk(self, step: int) -> bool:
        """Show the next older (+1) or newer (−1) sentence that differs from the one shown."""
        place, shown = self._place + step, self.toPlainText()
        while 0 <= place < len(self.history) and self.history[place] == shown:
            place += step
        if place >= len(self.history) or place < -1 or self._place + step < -1:
            return False
        if self._place == -1:
            self._draft = shown
        self._place = place
        self._walking = True
        self.replace_text(self._draft if place == -1 else self.history[place])
        self._walking = False
        return True

    def _leave_history(self) -> None:
        if not self._walking:
            self._place = -1

    def _at_edge(self, end: bool) -> bool:
        """Whether the cursor is in the first, or last, line as displayed."""
        edge = QTextCursor(self.document())
        if end:
            edge.movePosition(QTextCursor.MoveOperation.End)
        return self.cursorRect(edge).top() == self.cursorRect().top()

    # Events

    def event(self, event: QEvent) -> bool:
        """Undo and redo are the window's: they take back selections too."""
        if event.type() is QEvent.Type.ShortcutOverride:
            assert isinstance(event, QKeyEvent)
            if event.matches(QKeySequence.StandardKey.Undo) or event.matches(
                QKeySequence.StandardKey.Redo
            ):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if plain:
                self.entered.emit()
            case Qt.Key.Key_Up if plain and self._at_edge(end=False) and self._walk(+1):
                pass
            case Qt.Key.Key_Down if plain and self._at_edge(end=True) and self._walk(-1):
                pass
            case _:
                super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Files are for the window to open."""
        return source.hasText() and not any(url.isLocalFile() for url in source.urls())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """As much as the field may hold: laying out a million characters takes a minute."""
        text = source.text()
        kept = len(self.toPlainText()) - len(self.textCursor().selectedText())
        room = max(0, MAX_CHARACTERS - kept)
        self.insertPlainText(clean(text[:room]))
        if len(text) > room:
            self.shortened.emit(len(text) - room)


def _doubtful(theme: Theme, doubt: SourceDoubt) -> QTextCharFormat:
    result = QTextCharFormat()
    if doubt is SourceDoubt.UNTRANSLATED:
        result.setFontStrikeOut(True)
        result.setForeground(theme.color("warning"))
        return result
    unseen = doubt is SourceDoubt.UNSEEN
    style = QTextCharFormat.UnderlineStyle
    result.setUnderlineStyle(style.WaveUnderline if unseen else style.DotLine)
    result.setUnderlineColor(theme.color("warning"))
    return result


def _lit(theme: Theme, weight: float, *, pointed: bool) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setBackground(shaded(theme, weight))
    if pointed:
        result.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        result.setUnderlineColor(theme.color("accent"))
    return result
