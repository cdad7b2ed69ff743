"""Where heads look from one row, word by word: a column for each word, two lines for each head."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from core.trace.trace import Floats
from transformer_viz.drawing.colormap import BLANK, LEVELS
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font

GAP = 2 * GRID
LEAST, MOST = 6 * GRID, 20 * GRID
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class WordLine:
    """One of a head's two lines.

    Attributes:
        side: what tells this line from the other one.
        weights: [W]; None where the head has no such row.
        gold: the word that should be the heaviest.
        right: whether it is.
        active: the line looked at.
    """

    side: str
    weights: Floats | None
    gold: int | None
    right: bool
    active: bool


@dataclass(frozen=True, slots=True)
class WordColumns:
    """The places of words, in pixels, by the size of text."""

    width: float
    count: int
    font: QFont

    @property
    def line(self) -> float:
        """The height of one of the two lines of a head, …"""
        return grown(5 * GRID, self.font)

    @property
    def words(self) -> float:
        """The band of the words above all columns, of two lines as well."""
        return grown(8 * GRID, self.font)

    @property
    def names(self) -> float:
        """The width of the heads' names, …"""
        return grown(32 * GRID, self.font)

    @property
    def sides(self) -> float:
        """The column of the adjectives."""
        return grown(18 * GRID, self.font)

    @property
    def marks(self) -> float:
        """The column of ✓ and ✗."""
        return grown(7 * GRID, self.font)

    @property
    def score(self) -> float:
        """The column of the share of pairs."""
        return grown(16 * GRID, self.font)

    @property
    def cell(self) -> float:
        room = self.width - self.names - self.sides - self.marks - self.score
        return float(max(LEAST, min(int(room / max(1, self.count)), MOST)))

    @property
    def left(self) -> float:
        return self.names + self.sides

    @property
    def right(self) -> float:
        return self.left + self.count * self.cell

    def rect(self, column: int, top: float, height: float) -> QRectF:
        return QRectF(self.left + column * self.cell, top, self.cell, height)


def draw_words(
    painter: QPainter,
    columns: WordColumns,
    words: Sequence[tuple[str, ...]],
    active: int,
    theme: Theme,
) -> None:
    """Draw a word above each column, or where the lines differ one below the other, the active one
    strong."""
    small = scaled_font(columns.font, 0.9)
    for column, texts in enumerate(words):
        for line, text in enumerate(texts):
            differing = len(texts) > 1
            strong = differing and line == active
            painter.setFont(scaled_font(columns.font, 0.9, bold=strong))
            tone = "accent" if strong else "soft" if differing else "ink"
            painter.setPen(theme.color(tone))
            top = columns.words / 2 * (line if differing else 1)
            box = columns.rect(column, top, columns.words / 2).adjusted(1, 0, -1, 0)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, _fitting(text, painter.font(), box.width())
            )
    painter.setFont(small)
    painter.setPen(theme.color("soft"))
    half, left = columns.words / 2, columns.right + columns.marks
    score = QRectF(left, half, columns.score - 2 * GRID, half)
    painter.drawText(score, _RIGHT, "both right")


def draw_head_lines(
    painter: QPainter,
    rect: QRectF,
    columns: WordColumns,
    name: str,
    score: str,
    lines: Sequence[WordLine],
    table: np.ndarray,
    theme: Theme,
) -> None:
    """Draw a head's lines; `table` is RGBA uint8 [256, 4] by code (`colormap.lookup_table`)."""
    figures, small = scaled_font(columns.font, 1.0), scaled_font(columns.font, 0.9)
    height = columns.line
    both = QRectF(rect.left(), rect.top() + GAP / 2, rect.width(), 2 * height)
    painter.setFont(figures)
    painter.setPen(theme.color("ink"))
    painter.drawText(both.adjusted(3 * GRID, 0, 0, 0), _LEFT, name)
    left, width = columns.right + columns.marks, columns.score - 2 * GRID
    place = QRectF(left, both.top(), width, both.height())
    painter.drawText(place, _RIGHT, score)
    for number, line in enumerate(lines):
        top = both.top() + number * height
        painter.setFont(scaled_font(columns.font, 0.9, bold=line.active))
        painter.setPen(theme.color("accent" if line.active else "soft"))
        side = QRectF(columns.names, top, columns.sides - 2 * GRID, height)
        painter.drawText(side, _RIGHT, _fitting(line.side, painter.font(), side.width()))
        if line.weights is None:
            painter.setFont(small)
            painter.setPen(theme.color("faint"))
            text = QRectF(columns.left + GRID, top, rect.width(), height)
            painter.drawText(text, _LEFT, "“it” is not translated by a pronoun here")
            continue
        _draw_cells(painter, columns, top, line, table, theme)
        painter.setFont(figures)
        painter.setPen(theme.color("accent" if line.right else "error"))
        mark = QRectF(columns.right, top, columns.marks, height)
        painter.drawText(mark, Qt.AlignmentFlag.AlignCenter, "✓" if line.right else "✗")


def _draw_cells(
    painter: QPainter,
    columns: WordColumns,
    top: float,
    line: WordLine,
    table: np.ndarray,
    theme: Theme,
) -> None:
    assert line.weights is not None
    for column, weight in enumerate(line.weights):
        cell = columns.rect(column, top, columns.line).adjusted(0, 1, -1, -1)
        code = BLANK + round(float(min(max(weight, 0.0), 1.0)) * LEVELS)
        painter.fillRect(cell, QColor(*map(int, table[code])))
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawRect(cell)
    if line.gold is not None:
        cell = columns.rect(line.gold, top, columns.line).adjusted(0, 1, -1, -1)
        painter.setPen(QPen(theme.color("warning"), 2))
        painter.drawRect(cell)


def _fitting(text: str, font: QFont, width: float) -> str:
    return QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
