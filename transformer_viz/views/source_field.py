"""The sentence to translate: plain text, one to three lines, with unknown words underlined and
the words that are looked at shaded."""

import math
from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QTextEdit, QWidget

from transformer_viz.drawing.shading import shaded
from transformer_viz.edits import common_ends
from transformer_viz.languages import TRAINED, UNKNOWN
from transformer_viz.linking import Place, source_shades
from transformer_viz.session import MAX_CHARACTERS, Session
from transformer_viz.style import set_role
from transformer_viz.text_size import set_font
from transformer_viz.theme import GRID, LIGHT, Theme
from transformer_viz.views.spotlight import Spotlight
from transformer_viz.views.text_line import PlainLabel

MOST_LINES = 3
_MARGIN = 3
LINE_HEIGHT = 8 * GRID
"""Of a field of one line, with usual text."""
COUNTED_FROM = 0.8  # of the limit: the share from which the counter shows
FAINTEST = 0.02  # a smaller weight shades nothing
_ROLE = QTextFormat.Property.UserProperty  # of a mark in the text
_UNKNOWN, _LIT = "unknown", "lit"
_PROMPT = "Type a sentence…"
_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"))


def clean(text: str) -> str:
    """Return text as it may enter the field: line ends are \\n, other control characters are
    removed."""
    text = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    return "".join(c for c in text if c in "\n\t" or (c >= " " and c != "\x7f"))


def utf16_offsets(text: str) -> list[int]:
    """The position in UTF-16 units, as Qt counts, of each character and of the end."""
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + (2 if ord(character) > 0xFFFF else 1))
    return offsets


class SourceField(QWidget):
    """The sentence: Enter submits, Shift+Enter starts a line; ↑ ↓ at the edges browse history."""

    textEdited = Signal(str)  # by the user: typing, pasting, undo, history
    submitted = Signal(str)
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
        self.editor.entered.connect(lambda: self.submitted.emit(self.text()))
        self.editor.pointed.connect(self._point)
        self.editor.shortened.connect(
            lambda count: self.cut.emit(
                f"The text was cut: the limit is {MAX_CHARACTERS:,} characters, and the last "
                f"{count:,} were left out."
            )
        )
        spotlight.changed.connect(self._show_light)
        self.set_language(TRAINED.source)
        self.set_text(session.text)

    def text(self) -> str:
        return self.editor.toPlainText()

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

    def set_unknown(self, spans: Sequence[tuple[int, int]]) -> None:
        """Underline [start, end) characters of the text; the marks move with later edits."""
        self.editor.underline(spans, self._theme)

    def set_history(self, texts: Sequence[str]) -> None:
        """Set the sentences to walk through, the newest first."""
        self.editor.history = tuple(texts)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.editor.recolor_underlines(theme)
        self._show_light()

    # Pointing at words

    def _point(self, character: int | None) -> None:
        """Point at the token of this character, unless the text runs ahead of its trace."""
        trace, place = self._session.trace, None
        if trace is not None and character is not None and trace.text == self.text():
            for index, token in enumerate(trace.source_tokens):
                if token.start <= character < token.end:
                    place = Place("source", index)
        self._session.point(place)

    def _show_light(self) -> None:
        """Shade the words that are looked at, underline the one pointed at; while the text runs
        ahead of its trace the shades stay with their words."""
        trace, linked = self._session.trace, self._spotlight.linked
        if trace is None or linked is None:
            self.editor.shade([])
        elif trace.text == self.text():
            pointed = linked.place.index if linked.place.side == "source" else None
            marks = []
            for index, weight in enumerate(source_shades(trace, linked)):
                token = trace.source_tokens[index]
                word = trace.text[token.start : token.end].lstrip()
                if word and (weight >= FAINTEST or index == pointed):
                    look = _lit(self._theme, weight, pointed=index == pointed)
                    marks.append((token.end - len(word), token.end, look))
            self.editor.shade(marks)

    def _on_changed(self) -> None:
        count = len(self.text())
        self.counter.setVisible(count >= COUNTED_FROM * MAX_CHARACTERS)
        self.counter.setText(f"{count:,} / {MAX_CHARACTERS:,}")
        set_role(self.counter, "error" if count > MAX_CHARACTERS else "soft")
        if not self._setting:
            self.textEdited.emit(self.text())


class _Editor(QPlainTextEdit):
    entered = Signal()
    shortened = Signal(int)  # how many characters were not inserted
    pointed = Signal(object)  # the character under the pointer: int | None

    def __init__(self) -> None:
        super().__init__()
        self._pointed: int | None = None
        self._shades: list[QTextEdit.ExtraSelection] = []
        self.viewport().setMouseTracking(True)
        self.history: tuple[str, ...] = ()
        self._place = -1  # in the history; -1 is the draft
        self._draft = ""
        self._walking = False
        set_font(self, 1.1)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.textChanged.connect(self._leave_history)
        self.document().setDocumentMargin(_MARGIN)
        self.setViewportMargins(GRID, _MARGIN, GRID, 0)
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self._grow()

    def replace_text(self, text: str) -> None:
        """Change only what differs, so that the cursor and the marks stay at their words."""
        old, new = self.toPlainText(), clean(text)
        start, kept = common_ends(old, new)
        offsets = utf16_offsets(old)
        cursor = QTextCursor(self.document())
        cursor.setPosition(offsets[start])
        cursor.setPosition(offsets[len(old) - kept], QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(new[start : len(new) - kept])
        self.setTextCursor(cursor)

    # Marks: extra selections, whose cursors Qt moves along with edits

    def underline(self, spans: Sequence[tuple[int, int]], theme: Theme) -> None:
        """Mark [start, end) characters as unknown, in place of those marked before."""
        marks = [(start, end, _underline(theme)) for start, end in spans]
        self._replace_marks(_UNKNOWN, marks)

    def shade(self, marks: Sequence[tuple[int, int, QTextCharFormat]]) -> None:
        """Give [start, end) characters a look, in place of those that had one before."""
        self._replace_marks(_LIT, marks)

    def recolor_underlines(self, theme: Theme) -> None:
        selections = self.extraSelections()
        for selection in selections:
            if selection.format.property(_ROLE) == _UNKNOWN:
                selection.format = _underline(theme)
        self.setExtraSelections(selections)

    def _replace_marks(self, role: str, marks: Sequence[tuple[int, int, QTextCharFormat]]) -> None:
        kept = [one for one in self.extraSelections() if one.format.property(_ROLE) != role]
        if not marks and len(kept) == len(self.extraSelections()):
            return
        offsets = utf16_offsets(self.toPlainText())
        last = len(offsets) - 1
        for start, end, look in marks:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = QTextCursor(self.document())
            selection.cursor.setPosition(offsets[min(start, last)])
            keep = QTextCursor.MoveMode.KeepAnchor
            selection.cursor.setPosition(offsets[min(end, last)], keep)
            selection.format = look
            kept.append(selection)
        self.setExtraSelections(kept)

    def _character_at(self, point: QPoint) -> int | None:
        """The character whose box contains a point of the viewport."""
        offsets = utf16_offsets(self.toPlainText())
        near = bisect_left(offsets, self.cursorForPosition(point).position())
        for character in (near - 1, near):
            if not 0 <= character < len(offsets) - 1:
                continue
            start, end = (self._edge(offsets[at]) for at in (character, character + 1))
            low, high = sorted((start.x(), end.x()))
            inside = low <= point.x() < high and start.top() <= point.y() <= start.bottom()
            if inside and start.top() == end.top():
                return character
        return None

    def _edge(self, position: int) -> QRect:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        return self.cursorRect(cursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._set_pointed(self._character_at(event.position().toPoint()))

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

    # Size

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def _grow(self) -> None:
        """As high as the text, between one line and `MOST_LINES`."""
        lines = max(1, math.ceil(self.document().size().height()))
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if lines > MOST_LINES:
            lines, policy = MOST_LINES, Qt.ScrollBarPolicy.ScrollBarAlwaysOn
        self.setVerticalScrollBarPolicy(policy)
        # below less than a margin and one pixel, Qt counts the last line as hidden and scrolls
        text = lines * self.cursorRect().height() + 3 * _MARGIN + 1
        self.setFixedHeight(text + _MARGIN + 2 * self.frameWidth())

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


def _underline(theme: Theme) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setProperty(_ROLE, _UNKNOWN)
    result.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    result.setUnderlineColor(theme.color("warning"))
    return result


def _lit(theme: Theme, weight: float, *, pointed: bool) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setProperty(_ROLE, _LIT)
    result.setBackground(shaded(theme, weight))
    if pointed:
        result.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        result.setUnderlineColor(theme.color("accent"))
    return result
