"""Tokens as chips that flow over lines: geometry and picture.

The pieces of one word touch; a bar at the bottom of each chip is the probability of its token. A
word that is a guess has a dashed border and a question mark.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from core.text.tokens import Token, TokenKind
from transformer_viz.drawing.labels import draw_label, label_widths
from transformer_viz.drawing.shading import shaded
from transformer_viz.drawing.theme import GRID, Theme, scaled_font, taller

_LONGEST = 60 * GRID  # label
_BAR = 3  # px, the height of the bar of a probability
_MARK = 3 * GRID  # across the disc of a question mark
_ASKED_ROOM = 2 * GRID  # that the label of a chip leaves to it


@dataclass(frozen=True, slots=True)
class ChipSize:
    """The size of chips in pixels; `gap`: between words, `padding`: on both sides of a label,
    `scale`: of the font."""

    height: int
    gap: int
    padding: int
    scale: float

    @property
    def pitch(self) -> int:
        """The distance from one line to the next."""
        return self.height + GRID

    def fitted(self, font: QFont) -> "ChipSize":
        """Return higher chips where the text of the window is large."""
        return replace(self, height=taller(self.height, self.font(font)))

    def font(self, font: QFont) -> QFont:
        return font if self.scale == 1 else scaled_font(font, self.scale)


NORMAL = ChipSize(7 * GRID, GRID + 2, 2 * GRID, 1.0)
COMPACT = ChipSize(5 * GRID, GRID, GRID, 0.9)
"""For rows of tokens where there is little room."""


@dataclass(frozen=True, slots=True)
class ChipLayout:
    """The places of chips; `rects`: one per token, `height`: of all lines, `end`: where the last
    chip ends."""

    rects: tuple[QRectF, ...]
    height: int
    end: QPointF

    def between(self, top: float, bottom: float) -> range:
        """The chips that touch a band of the whole flow."""
        first = bisect_left(self.rects, top, key=QRectF.bottom)
        return range(first, bisect_right(self.rects, bottom, lo=first, key=QRectF.top))


def lay_out_chips(
    tokens: Sequence[Token],
    width: float,
    font: QFont,
    size: ChipSize = NORMAL,
    asked: Container[int] = (),
) -> ChipLayout:
    """Break lines between words, so that the pieces of a word stay together; a word longer than a
    line breaks where it must. `asked`: chips that have a question mark."""
    size = size.fitted(font)
    most = _LONGEST + 2 * size.padding
    wanted = [
        label + 2 * size.padding + _ASKED_ROOM * (index in asked)
        for index, label in enumerate(label_widths(size.font(font), tokens))
    ]
    widths = [width if width < most else most for width in wanted]
    rects: list[QRectF] = []
    x, y = 0.0, 0.0
    for word in _words(tokens):
        chips = widths[word]
        if x > 0 and x + sum(chips) > width:
            x, y = 0.0, y + size.pitch
        for chip in chips:
            if x > 0 and x + chip > width:
                x, y = 0.0, y + size.pitch
            rects.append(QRectF(x, y, chip, size.height))
            x += chip
        x += size.gap
    return ChipLayout(tuple(rects), int(y) + size.pitch, QPointF(x, y))


def _words(tokens: Sequence[Token]) -> list[slice]:
    starts = [
        index
        for index, token in enumerate(tokens)
        if index == 0 or token.starts_word or tokens[index - 1].kind is TokenKind.SPECIAL
    ]
    return [slice(first, last) for first, last in pairwise([*starts, len(tokens)])]


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
    changed: bool = False,
    guess: bool = False,
    asked: bool = False,
    size: ChipSize = NORMAL,
) -> None:
    """Draw a chip in the painter's font. `shade`: the weight, 0 to 1, with which the token is
    looked at; `changed`: another token than before, which a corner marks; `guess`: a piece of an
    improbable word; `asked`: the piece that has its question mark."""
    box = rect.adjusted(0.5, 0.5, -0.5, -0.5)
    ground = "accent_soft" if chosen else "hover" if hovered else "raised"
    painter.setBrush(shaded(theme, shade, ground))
    painter.setPen(QPen(theme.color("accent" if chosen else "border"), 1))
    painter.drawRoundedRect(box, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if guess:
        painter.setPen(QPen(theme.color("warning"), 1.5, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(box, 3, 3)
    text = rect.adjusted(size.padding, 0, -size.padding - _ASKED_ROOM * asked, -2)
    draw_label(painter, text, token, theme, align=Qt.AlignmentFlag.AlignHCenter, strong=chosen)
    if log_probability is not None:
        bottom, room = rect.bottom() - GRID + 2, rect.width() - 2 * GRID
        track = QRectF(rect.left() + GRID, bottom - _BAR, room, _BAR)
        painter.fillRect(track, theme.color("line"))
        track.setWidth(track.width() * float(np.exp(log_probability)))
        painter.fillRect(track, theme.color("warning" if guess else "accent" if chosen else "soft"))
    if changed:
        _mark_corner(painter, box, theme)
    if asked:
        _draw_question_mark(painter, box, theme)


def _draw_question_mark(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """On a disc in the upper right corner."""
    disc = QRectF(box.right() - _MARK - 2, box.top() + 2, _MARK, _MARK)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("warning"))
    painter.drawEllipse(disc)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    before = painter.font()
    font = QFont(before)
    font.setPixelSize(_MARK - 2)
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(theme.color("paper"))
    painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, "?")
    painter.setFont(before)


def _mark_corner(painter: QPainter, box: QRectF, theme: Theme) -> None:
    corner, side = box.topLeft(), 2.0 * GRID
    painter.setPen(QPen(theme.color("warning"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 3, 3)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("warning"))
    painter.drawPolygon([corner, corner + QPointF(side, 0), corner + QPointF(0, side)])
    painter.setBrush(Qt.BrushStyle.NoBrush)
