"""The sentence to translate: plain text, one to three lines, with unknown words underlined."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QTextEdit, QWidget

from transformer_viz.controller import MAX_CHARACTERS
from transformer_viz.session import Session
from transformer_viz.theme import GRID, LIGHT, Theme, scaled_font, set_role

MOST_LINES = 3
_MARGIN = 3
COUNTED_FROM = 0.8  # of the limit: the share from which the counter shows
_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"))


def clean(text: str) -> str:
    """Text as it may enter the field: line ends are \\n, other control characters are gone."""
    text = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    return "".join(c for c in text if c in "\n\t" or (c >= " " and c != "\x7f"))


def utf16_offsets(text: str) -> list[int]:
    """The position in UTF-16 units, as Qt counts, of each character and of the end."""
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + (2 if ord(character) > 0xFFFF else 1))
    return offsets


class SourceField(QWidget):
    """Enter submits, Shift+Enter breaks the line; up and down past the edges walk the history."""

    textEdited = Signal(str)  # by the user: typing, pasting, undo, history
    submitted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._setting = False  # the text is being set, not edited
        self.editor = _Editor()
        self.editor.setPlaceholderText("Type an English sentence …")
        self.editor.setAccessibleName("English sentence")
        self.counter = QLabel()
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
        self.set_text(session.text)

    def text(self) -> str:
        return self.editor.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace the text, undoably, without `textEdited`."""
        self._setting = True
        self.editor.replace_text(text)
        self._setting = False

    def set_unknown(self, spans: Sequence[tuple[int, int]]) -> None:
        """Underline [start, end) characters of the text; the marks move with later edits."""
        self.editor.underline(spans, self._theme)

    def set_history(self, texts: Sequence[str]) -> None:
        """Sentences to walk through, the newest first."""
        self.editor.history = tuple(texts)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.editor.recolor_underlines(theme)

    def _on_changed(self) -> None:
        count = len(self.text())
        self.counter.setVisible(count >= COUNTED_FROM * MAX_CHARACTERS)
        self.counter.setText(f"{count:,} / {MAX_CHARACTERS:,}")
        set_role(self.counter, "error" if count > MAX_CHARACTERS else "soft")
        if not self._setting:
            self.textEdited.emit(self.text())


class _Editor(QPlainTextEdit):
    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.history: tuple[str, ...] = ()
        self._place = -1  # in the history; -1 is the draft
        self._draft = ""
        self._walking = False
        self.setFont(scaled_font(self.font(), 1.1))
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._leave_history)
        self.document().setDocumentMargin(_MARGIN)
        self.setViewportMargins(GRID, _MARGIN, GRID, 0)
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self._grow()

    def replace_text(self, text: str) -> None:
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(clean(text))
        self.setTextCursor(cursor)

    # Unknown words: extra selections, whose cursors Qt moves along with edits

    def underline(self, spans: Sequence[tuple[int, int]], theme: Theme) -> None:
        offsets = utf16_offsets(self.toPlainText())
        last = len(offsets) - 1
        selections = []
        for start, end in spans:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = QTextCursor(self.document())
            selection.cursor.setPosition(offsets[min(start, last)])
            keep = QTextCursor.MoveMode.KeepAnchor
            selection.cursor.setPosition(offsets[min(end, last)], keep)
            selection.format = _underline(theme)
            selections.append(selection)
        self.setExtraSelections(selections)

    def recolor_underlines(self, theme: Theme) -> None:
        selections = self.extraSelections()
        for selection in selections:
            selection.format = _underline(theme)
        self.setExtraSelections(selections)

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
        self.insertPlainText(clean(source.text()))


def _underline(theme: Theme) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    result.setUnderlineColor(theme.color("warning"))
    return result
