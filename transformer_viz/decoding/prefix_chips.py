"""The hypothesis token by token: what stands so far, and, pale, what is still to come."""

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen, QPolygonF

from core.text.tokens import Token, TokenKind
from transformer_viz.drawing.chips import draw_chip
from transformer_viz.drawing.labels import display_text
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.hypotheses import Hypothesis
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.chip_flow import ChipFlow
from transformer_viz.widgets.entry_field import EntryField
from transformer_viz.words.wording import token_name

_TO_COME = 0.4  # opacity
_NARROWEST = 24 * GRID  # of the editor


class PrefixChips(ChipFlow):
    """The chips of the hypothesis: a click goes to a step, a double-click or `edit` replaces it."""

    replaced = Signal(int, str)  # step, what to put in place of its token
    editingEnded = Signal()  # by a key: the focus is free

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Tokens of the hypothesis")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._hypothesis: Hypothesis | None = None
        self._step = 0
        self._framed = False
        self._edited: int | None = None
        self.editor = EntryField("Replacement for this token", parent=self.viewport())
        self.editor.hide()
        self.editor.submitted.connect(self._send)
        self.editor.left.connect(self._stop_editing)

    def show_hypothesis(self, hypothesis: Hypothesis | None, step: int) -> None:
        if hypothesis is not self._hypothesis:
            self._hypothesis = hypothesis
            self._stop_editing()
            self.set_tokens(() if hypothesis is None else hypothesis.trace.predicted_tokens)
        self._step = step
        if self.tokens:
            self.reveal(min(step, len(self.tokens) - 1))
            announce(self, self.explanation(step).replace("\n", ", "))
        self.viewport().update()

    def set_framed(self, framed: bool) -> None:
        """Whether the keyboard steps: the current chip then has a frame."""
        self._framed = framed
        self.viewport().update()

    def edit(self, step: int) -> None:
        """Open an editor in place of the token."""
        if not self.tokens:
            return
        self.reveal(step)
        rect, token = self.rect_of(step).toAlignedRect(), self.tokens[step]
        rect.setWidth(max(rect.width(), _NARROWEST))
        rect.moveRight(min(rect.right(), self.viewport().width() - 1))
        self._edited = step
        self.editor.setGeometry(rect)
        self.editor.setText("" if token.kind is TokenKind.SPECIAL else display_text(token))
        self.editor.selectAll()
        self.editor.show()
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def draw(self, painter: QPainter, index: int, rect: QRectF) -> None:
        painter.setOpacity(1.0 if index <= self._step else _TO_COME)
        draw_chip(
            painter,
            rect,
            self.tokens[index],
            self.theme,
            chosen=index == self._step,
            hovered=index == self.pointed,
            log_probability=self._log_probability(index),
            size=self.size_of_chips,
        )
        if self._hypothesis is not None and index < self._hypothesis.given:
            corner = rect.topLeft() + QPointF(1, 1)
            mark = [corner, corner + QPointF(1.5 * GRID, 0), corner + QPointF(0, 1.5 * GRID)]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.color("accent"))
            painter.drawPolygon(QPolygonF(mark))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setOpacity(1.0)
        if self._framed and index == self._step:
            painter.setPen(QPen(self.theme.color("accent"), 2))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 3, 3)

    def explanation(self, index: int) -> str:
        lines = [f"step {index + 1} of {len(self.tokens)}: {token_name(self.tokens[index])}"]
        value = self._log_probability(index)
        if value is not None:
            lines.append(f"p {math.exp(value):.4f}, log p {signed(value, 3)}")
        if self._hypothesis is not None and index < self._hypothesis.given:
            lines.append("given, not decoded (marked corner)")
        lines.append("double-click or F2 to replace it")
        return "\n".join(lines)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self.edit(index)

    def _log_probability(self, index: int) -> float | None:
        values: np.ndarray | None = None
        if self._hypothesis is not None:
            values = self._hypothesis.trace.log_probabilities
        return None if values is None else float(values[index])

    def _send(self, text: str) -> None:
        step = self._edited
        self._stop_editing()
        if step is not None:
            self.replaced.emit(step, in_place_of(self.tokens[step], text))

    def _stop_editing(self) -> None:
        if self._edited is not None:
            self._edited = None
            had_focus = self.editor.hasFocus()
            self.editor.hide()
            if had_focus:
                self.editingEnded.emit()


def in_place_of(token: Token, text: str) -> str:
    """What is typed for a token: it starts a word if the token does, and punctuation never does."""
    starts_word = token.starts_word and text[0].isalnum()
    return f" {text}" if starts_word else text
