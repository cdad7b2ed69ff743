"""The words of the sentence as chips that change places: dragged onto each other, or by keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing.chips import draw_chip
from transformer_viz.drawing.labels import display_text
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.chip_flow import ChipFlow

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_LIFTS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WordOrder(ChipFlow):
    """Shows the words in their present order. Dragging one onto another swaps the two; with keys,
    Space lifts a word and swaps it with the one that the arrows have gone to."""

    swapped = Signal(int, int)  # places in the order shown

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Order of the words")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.current = 0
        self.lifted: int | None = None

    def set_words(self, words: Sequence[Token]) -> None:
        self.set_tokens(words)
        self.current = min(self.current, max(0, len(words) - 1))
        self.lifted = None
        self._tell()

    def explanation(self, index: int) -> str:
        return (
            "Drag onto another word to swap the two; with keys: ← →, and Space to lift and to swap"
        )

    def draw(self, painter: QPainter, index: int, rect: QRectF) -> None:
        draw_chip(
            painter,
            rect,
            self.tokens[index],
            self.theme,
            chosen=index == self.lifted,
            hovered=index == self.pointed,
            log_probability=None,
        )
        if self.hasFocus() and index == self.current:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.theme.color("accent"), 2))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 3, 3)

    # From the user

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and index is not None:
            self.current = self.lifted = index
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        lifted, index = self.lifted, self.index_at(event.position())
        self.lifted = None
        self.viewport().update()
        if lifted is not None and index is not None and index != lifted:
            self.current = index
            self.swapped.emit(lifted, index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.current = max(0, min(len(self.tokens) - 1, self.current + _STEPS[key]))
        elif key in _LIFTS and self.tokens:
            lifted, self.lifted = self.lifted, None
            if lifted is None:
                self.lifted = self.current
            elif lifted != self.current:
                self.swapped.emit(lifted, self.current)
        elif key is Qt.Key.Key_Escape and self.lifted is not None:
            self.lifted = None
        else:
            super().keyPressEvent(event)
            return
        self._tell()
        self.viewport().update()

    def _tell(self) -> None:
        if not self.tokens:
            announce(self, "")
            return
        names = [display_text(token) for token in self.tokens]
        said = f"{names[self.current]}, word {self.current + 1} of {len(names)}"
        if self.lifted is not None:
            said += f"; {names[self.lifted]} is lifted, Space swaps them"
        announce(self, said)
