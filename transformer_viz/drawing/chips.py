"""Tokens as chips that flow over lines: geometry and picture.

The pieces of one word touch; a thin bar below each chip is the probability of its token.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.drawing.shading import shaded
from transformer_viz.theme import GRID, Theme

HEIGHT = 7 * GRID
PITCH = HEIGHT + GRID  # from one line to the next
_GAP = 1.5 * GRID  # between words
_PADDING = 2 * GRID
_LONGEST = 60 * GRID


@dataclass(frozen=True, slots=True)
class ChipLayout:
    """`rects`: one per token; `height`: of all lines; `end`: where the last chip ends."""

    rects: tuple[QRectF, ...]
    height: int
    end: QPointF


def lay_out_chips(tokens: Sequence[Token], width: float, font: QFont) -> ChipLayout:
    """Break lines between words, so that the pieces of a word stay together; a word longer than a
    line breaks where it must."""
    rects: list[QRectF] = []
    widths = iter(label_widths(font, tokens))
    x, y = 0.0, 0.0
    for word in _words(tokens):
        sizes = [min(next(widths), _LONGEST) + 2 * _PADDING for _ in word]
        if x > 0 and x + sum(sizes) > width:
            x, y = 0.0, y + PITCH
        for size in sizes:
            if x > 0 and x + size > width:
                x, y = 0.0, y + PITCH
            rects.append(QRectF(x, y, size, HEIGHT))
            x += size
        x += _GAP
    return ChipLayout(tuple(rects), int(y) + PITCH if rects else PITCH, QPointF(x, y))


def _words(tokens: Sequence[Token]) -> list[list[Token]]:
    words: list[list[Token]] = []
    for token in tokens:
        if words and not token.starts_word and words[-1][-1].kind != "special":
            words[-1].append(token)
        else:
            words.append([token])
    return words


def draw_chip(
    painter: QPainter,
    rect: QRectF,
    token: Token,
    theme: Theme,
    *,
    chosen: bool,
    hovered: bool,
    log_probability: float | None,
    shade: float = 0.0,
) -> None:
    """`shade`: the weight, 0 to 1, with which the token is looked at."""
    box = rect.adjusted(0.5, 0.5, -0.5, -0.5)
    ground = "accent_soft" if chosen else "hover" if hovered else "raised"
    painter.setBrush(shaded(theme, shade, ground))
    painter.setPen(QPen(theme.color("accent" if chosen else "border"), 1))
    painter.drawRoundedRect(box, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    text = rect.adjusted(_PADDING, 0, -_PADDING, -2)
    draw_label(painter, text, token, theme, align=Qt.AlignmentFlag.AlignHCenter, strong=chosen)
    if log_probability is not None:
        width = (rect.width() - 2 * GRID) * float(np.exp(log_probability))
        bar = QRectF(rect.left() + GRID, rect.bottom() - GRID, width, 2)
        painter.fillRect(bar, theme.color("accent" if chosen else "soft"))
