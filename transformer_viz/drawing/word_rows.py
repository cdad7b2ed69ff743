"""Where heads look from one row, word by word: a column for each word, two lines for each head."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from core.trace.trace import Floats
from transformer_viz.drawing.colormap import BLANK, LEVELS
from transformer_viz.theme import GRID, Theme, scaled_font

LINE = 5 * GRID
GAP = 2 * GRID
NAMES = 32 * GRID  # room for the heads' names
SIDES = 18 * GRID  # for the adjectives
MARKS = 7 * GRID  # for ✓ and ✗
SCORE = 16 * GRID
LEAST, MOST = 6 * GRID, 20 * GRID
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class WordLine:
    """
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
    """Where the words stand, in pixels."""

    width: float
    count: int

    @property
    def cell(self) -> float:
        room = self.width - NAMES - SIDES - MARKS - SCORE
        return float(max(LEAST, min(int(room / max(1, self.count)), MOST)))

    @property
    def left(self) -> float:
        return float(NAMES + SIDES)

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
    font: QFont,
) -> None:
    """Above the columns: a word, or where the lines differ one below the other, the active one
    strong."""
    small = scaled_font(font, 0.9)
    for column, texts in enumerate(words):
        for line, text in enumerate(texts):
            differing = len(texts) > 1
            strong = differing and line == active
            painter.setFont(scaled_font(font, 0.9, bold=strong))
            tone = "accent" if strong else "soft" if differing else "ink"
            painter.setPen(theme.color(tone))
            top = line * 4 * GRID if differing else 4 * GRID
            box = columns.rect(column, top, 4 * GRID).adjusted(1, 0, -1, 0)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, _fitting(text, painter.font(), box.width())
            )
    painter.setFont(small)
    painter.setPen(theme.color("soft"))
    score = QRectF(columns.right + MARKS, 4 * GRID, SCORE - 2 * GRID, 4 * GRID)
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
    font: QFont,
) -> None:
    """`table`: RGBA uint8 [256, 4] by code (`colormap.lookup_table`)."""
    figures, small = scaled_font(font, 1.0), scaled_font(font, 0.9)
    both = QRectF(rect.left(), rect.top() + GAP / 2, rect.width(), 2 * LINE)
    painter.setFont(figures)
    painter.setPen(theme.color("ink"))
    painter.drawText(both.adjusted(3 * GRID, 0, 0, 0), _LEFT, name)
    place = QRectF(columns.right + MARKS, both.top(), SCORE - 2 * GRID, both.height())
    painter.drawText(place, _RIGHT, score)
    for number, line in enumerate(lines):
        top = both.top() + number * LINE
        painter.setFont(scaled_font(font, 0.9, bold=line.active))
        painter.setPen(theme.color("accent" if line.active else "soft"))
        side = QRectF(NAMES, top, SIDES - 2 * GRID, LINE)
        painter.drawText(side, _RIGHT, _fitting(line.side, painter.font(), side.width()))
        if line.weights is None:
            painter.setFont(small)
            painter.setPen(theme.color("faint"))
            text = QRectF(columns.left + GRID, top, rect.width(), LINE)
            painter.drawText(text, _LEFT, "“it” is not translated by a pronoun here")
            continue
        _draw_cells(painter, columns, top, line, table, theme)
        painter.setFont(figures)
        painter.setPen(theme.color("accent" if line.right else "error"))
        mark = QRectF(columns.right, top, MARKS, LINE)
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
        cell = columns.rect(column, top, LINE).adjusted(0, 1, -1, -1)
        code = BLANK + round(float(min(max(weight, 0.0), 1.0)) * LEVELS)
        painter.fillRect(cell, QColor(*map(int, table[code])))
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawRect(cell)
    if line.gold is not None:
        cell = columns.rect(line.gold, top, LINE).adjusted(0, 1, -1, -1)
        painter.setPen(QPen(theme.color("warning"), 2))
        painter.drawRect(cell)


def _fitting(text: str, font: QFont, width: float) -> str:
    return QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
