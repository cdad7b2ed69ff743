"""Plain text that is as high as it needs, with marks on some of its characters."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent, QResizeEvent, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip

from transformer_viz.drawing.theme import GRID
from transformer_viz.state.edits import common_ends
from transformer_viz.widgets.text_size import set_font
from transformer_viz.words.wording import plain_tooltip

_MARGIN = 3
_ROLE = QTextFormat.Property.UserProperty  # of a mark
_ABOUT = int(_ROLE) + 1  # of a mark: a sentence, as plain text
_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"))


def clean(text: str) -> str:
    """Return text as it may enter the field: line ends are \\n, other control characters are
    removed."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    return "".join(c for c in text if c in "\n\t" or (c >= " " and c != "\x7f"))


def utf16_offsets(text: str) -> list[int]:
    """The position in UTF-16 units, as Qt counts, of each character and of the end."""
    if len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return list(range(len(text) + 1))
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + (2 if ord(character) > 0xFFFF else 1))
    return offsets


class GrowingText(QPlainTextEdit):
    """Of one line to `most_lines`; beyond these it scrolls. Characters are counted as Python does,
    and marks move along with edits."""

    def __init__(self, most_lines: int) -> None:
        super().__init__()
        self._most_lines = most_lines
        set_font(self, 1.1)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
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

    @property
    def caret(self) -> int:
        """The character that the cursor is before."""
        return bisect_left(utf16_offsets(self.toPlainText()), self.textCursor().position())

    def set_caret(self, character: int) -> None:
        """Put the cursor before a character, and what is around it into sight."""
        cursor = self.textCursor()
        cursor.setPosition(utf16_offsets(self.toPlainText())[character])
        self.setTextCursor(cursor)

    def mark(self, role: str, marks: Sequence[tuple[int, int, QTextCharFormat]]) -> None:
        """Give [start, end) characters a look, in place of those that had one of this role: extra
        selections, whose cursors Qt moves along with edits."""
        kept = [one for one in self.extraSelections() if role_of(one) != role]
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
            selection.format = _of_role(look, role)
            kept.append(selection)
        self.setExtraSelections(kept)

    def restyle(self, role: str, look: QTextCharFormat) -> None:
        """Give those that have a look of this role another one; what is said of them stays."""
        selections = self.extraSelections()
        for selection in selections:
            if role_of(selection) == role:
                selection.format = _of_role(explained(look, about_of(selection)), role)
        self.setExtraSelections(selections)

    def explanation(self, point: QPoint) -> str:
        """Return what is said of the marks at a point of the viewport, one a line."""
        character = self.character_at(point)
        if character is None:
            return ""
        position = utf16_offsets(self.toPlainText())[character]
        return "\n".join(
            about_of(mark)
            for mark in self.extraSelections()
            if about_of(mark)
            and mark.cursor.selectionStart() <= position < mark.cursor.selectionEnd()
        )

    def viewportEvent(self, event: QEvent) -> bool:
        if not isinstance(event, QHelpEvent) or event.type() is not QEvent.Type.ToolTip:
            return super().viewportEvent(event)
        text = self.explanation(event.pos())
        if text:
            QToolTip.showText(event.globalPos(), plain_tooltip(text), self.viewport())
        else:
            QToolTip.hideText()
            event.ignore()
        return True

    def character_at(self, point: QPoint) -> int | None:
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def _grow(self) -> None:
        """As high as the text, between one line and `self._most_lines`."""
        lines = max(1, math.ceil(self.document().size().height()))
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if lines > self._most_lines:
            lines, policy = self._most_lines, Qt.ScrollBarPolicy.ScrollBarAlwaysOn
        self.setVerticalScrollBarPolicy(policy)
        # below less than a margin and one pixel, Qt counts the last line as hidden and scrolls
        text = lines * self.cursorRect().height() + 3 * _MARGIN + 1
        self.setFixedHeight(text + _MARGIN + 2 * self.frameWidth())


def _of_role(look: QTextCharFormat, role: str) -> QTextCharFormat:
    result = QTextCharFormat(look)
    result.setProperty(_ROLE, role)
    return result


def role_of(mark: QTextEdit.ExtraSelection) -> Any:
    """The role that `GrowingText.mark` gave it."""
    return mark.format.property(_ROLE)


def explained(look: QTextCharFormat, about: str) -> QTextCharFormat:
    """Return the look of a mark of which a sentence is said under the pointer."""
    result = QTextCharFormat(look)
    result.setProperty(_ABOUT, about)
    return result


def about_of(mark: QTextEdit.ExtraSelection) -> str:
    """Return what `explained` says of a mark."""
    return str(mark.format.property(_ABOUT) or "")
