"""Token labels along the two axes of a map.

Rows are labelled right-aligned beside their cells, columns at 45° above theirs, both with their
number. Where cells are smaller than letters, labels are smaller too, down to `SMALLEST`; then every
second, fifth, tenth … token is labelled.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from core.text.tokens import Token
from transformer_viz.drawing.labels import (
    ARROW,
    draw_label,
    draw_slanted,
    draw_transition,
    label_step,
    label_widths,
    look,
)
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

LONGEST = 40 * GRID  # pixels that one token's label may take; longer ones are elided
_MIDDLE_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
SINK_BAR = 3  # pixels
SLANT = math.sqrt(0.5)  # sine and cosine of 45°
NUMBER_SIZE = 0.75  # of the font
SMALLEST = 0.7  # of the font: a label this small can still be read
_SIZES = (1.0, 0.9, 0.8, SMALLEST)


@dataclass(frozen=True, slots=True)
class Axis:
    """The tokens along an axis in pixels: token i lies at [origin + i·pitch, origin + (i+1)·pitch).

    `numbers`: what to write beside each; without any, 1, 2, 3 …
    """

    tokens: Sequence[Token]
    origin: float
    pitch: float
    start: float  # what is visible
    end: float
    numbers: Sequence[int] = ()

    def number(self, index: int) -> int:
        return self.numbers[index] if self.numbers else index + 1

    @property
    def last_number(self) -> int:
        return self.number(len(self.tokens) - 1)

    def visible(self) -> range:
        first = math.floor((self.start - self.origin) / self.pitch + 1e-6)
        last = math.ceil((self.end - self.origin) / self.pitch - 1e-6)
        return range(max(0, first), min(len(self.tokens), last))

    def middle(self, index: int) -> float:
        return self.origin + (index + 0.5) * self.pitch

    def labelled(self, needed: float, marked: int | None) -> Iterator[int]:
        """The visible tokens whose labels, `needed` pixels apart, do not collide; `marked`
        always has its label, and neighbours make room."""
        step = label_step(self.pitch, needed)
        for index in self.visible():
            if index == marked:
                yield index
            elif (index + 1) % step == 0 or step == 1:
                clear = marked is None or abs(index - marked) * self.pitch >= needed
                if clear:
                    yield index


def rows_room(font: QFont, tokens: Sequence[Token], predicted: Sequence[Token]) -> float:
    """The width that row labels want, without their numbers."""
    if not predicted:
        return columns_room(font, tokens)
    pairs = zip(tokens, predicted, strict=True)
    unlike = {(look(one), look(other)): (one, other) for one, other in pairs}
    before, after = zip(*unlike.values(), strict=True)
    arrow = QFontMetricsF(font).horizontalAdvance(ARROW)
    ends = [label_widths(font, side, word_marks=True) for side in (before, after)]
    return max(
        min(start, LONGEST) + arrow + min(end, LONGEST) for start, end in zip(*ends, strict=True)
    )


def columns_room(font: QFont, tokens: Sequence[Token]) -> float:
    """The length, along the slant, that column labels want."""
    unlike = {look(token): token for token in tokens}
    return min(LONGEST, max(label_widths(font, unlike.values(), word_marks=True), default=0.0))


def columns_height(font: QFont, room: float) -> float:
    """The height above the cells that slanted labels `room` long and their numbers take."""
    line = QFontMetricsF(font).height()
    return SLANT * (room + line / 2) + _number_height(font) + GRID


def numbers_width(font: QFont, largest: int) -> float:
    return QFontMetricsF(scaled_font(font, NUMBER_SIZE)).horizontalAdvance(str(largest))


def row_font(font: QFont, axis: Axis) -> QFont:
    """Return the font of the labels of rows."""
    return _fitting(font, axis, _row_needs)


def _fitting(font: QFont, axis: Axis, needs: Callable[[QFont, Axis], float]) -> QFont:
    """The largest in which every label has its place; where none does, the font itself."""
    sizes = (scaled_font(font, size) for size in _SIZES)
    return next((one for one in sizes if needs(one, axis) <= axis.pitch), font)


def _row_needs(font: QFont, axis: Axis) -> float:
    return QFontMetricsF(font).height()


def _column_needs(font: QFont, axis: Axis) -> float:
    digits = numbers_width(font, axis.last_number) + GRID
    return max(QFontMetricsF(font).height() / SLANT * 0.8, digits)


def draw_rows(
    painter: QPainter,
    axis: Axis,
    predicted: Sequence[Token],
    *,
    left: float,
    right: float,
    font: QFont,
    theme: Theme,
    marked: int | None,
) -> None:
    """Draw numbers from `left` and labels up to `right`."""
    small, numbers = scaled_font(font, NUMBER_SIZE), numbers_width(font, axis.last_number)
    digits = _number_height(font)
    font = row_font(font, axis)
    line = QFontMetricsF(font).height()
    for index in axis.labelled(line, marked):
        strong = index == marked
        top = axis.middle(index) - line / 2
        painter.setFont(small)
        painter.setPen(theme.color("accent" if strong else "faint"))
        number = QRectF(left, axis.middle(index) - digits / 2, numbers, digits)
        painter.drawText(number, _MIDDLE_RIGHT, str(axis.number(index)))
        painter.setFont(font)
        label_left = left + numbers + 2 * GRID
        label = QRectF(label_left, top, right - label_left, line)
        token = axis.tokens[index]
        if predicted:
            draw_transition(painter, label, token, predicted[index], theme, strong=strong)
        else:
            draw_label(painter, label, token, theme, strong=strong, word_mark=True)


def draw_columns(
    painter: QPainter,
    axis: Axis,
    *,
    bottom: float,
    room: float,
    font: QFont,
    theme: Theme,
    marked: int | None,
) -> None:
    """Draw numbers just above `bottom`, and slanted labels above these."""
    font = _fitting(font, axis, _column_needs)
    line = QFontMetricsF(font).height()
    small = scaled_font(font, NUMBER_SIZE)
    number_height = _number_height(font)
    digits = numbers_width(font, axis.last_number) + GRID
    for index in axis.labelled(_column_needs(font, axis), marked):
        strong = index == marked
        middle = axis.middle(index)
        painter.setFont(small)
        painter.setPen(theme.color("accent" if strong else "faint"))
        number = QRectF(middle - digits, bottom - number_height, 2 * digits, number_height)
        painter.drawText(number, Qt.AlignmentFlag.AlignCenter, str(axis.number(index)))
        painter.setFont(font)
        foot = QPointF(middle - line / 8, bottom - number_height - line / 4)
        draw_slanted(painter, foot, room, axis.tokens[index], theme, strong=strong)


def mark_columns(
    painter: QPainter, axis: Axis, columns: Sequence[int], *, bottom: float, theme: Theme
) -> None:
    """A bar across the top of each of these columns, for sinks."""
    visible = axis.visible()
    for index in columns:
        if index in visible:
            left = max(axis.start, axis.origin + index * axis.pitch)
            right = min(axis.end, axis.origin + (index + 1) * axis.pitch)
            bar = QRectF(left, bottom - SINK_BAR, right - left, SINK_BAR)
            painter.fillRect(bar, theme.color("warning"))


def column_under(axis: Axis, point: QPointF, bottom: float, font: QFont) -> int | None:
    """The column whose slanted label a point above the cells touches."""
    above = max(0.0, bottom - _number_height(font) - point.y())
    foot = point.x() - above
    index = math.floor((foot - axis.origin) / axis.pitch)
    return index if index in axis.visible() else None


def _number_height(font: QFont) -> float:
    return QFontMetricsF(scaled_font(font, NUMBER_SIZE)).height()
