"""One number for each head: a grid of layers × heads for each kind, side by side.

A head that a mark is given to has a corner; one without the number is hatched.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from core.trace.trace import AttentionKind, Head
from transformer_viz.drawing.colorbar import draw_color_bar, room
from transformer_viz.drawing.colormap import BLANK, LEVELS
from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font, taller
from transformer_viz.words.titles import TITLES

_MARGIN = 3 * GRID
_NUMBERS = 5 * GRID  # room for a layer's number
_TITLE = 6 * GRID
_HEADS = 4 * GRID  # room for the heads' numbers
_APART = 5 * GRID  # between two kinds
LEAST, MOST = 5 * GRID, 16 * GRID  # side of a cell
_CORNER = 2 * GRID


@dataclass(frozen=True, slots=True)
class HeadGrid:
    """A grid of layers × heads.

    Attributes:
        levels: 0 … 1 of each head, its place on the colour bar; None for a head without a number.
        texts: what stands in the cells, where there is room.
        marked: heads with a corner.
    """

    levels: Mapping[Head, float | None]
    texts: Mapping[Head, str]
    marked: frozenset[Head]
    legend: Legend

    @property
    def kinds(self) -> tuple[tuple[Head, ...], ...]:
        """The heads of each kind, in reading order."""
        heads = sorted(self.levels, key=lambda head: head[1:])
        found = (tuple(one for one in heads if one.kind is kind) for kind in AttentionKind)
        return tuple(filter(None, found))


class GridLayout:
    """The places of the cells, in pixels: the largest that fit, overflowing where even the least do
    not."""

    def __init__(
        self, kinds: Sequence[Sequence[Head]], width: float, height: float, font: QFont
    ) -> None:
        self.kinds = kinds
        columns = [1 + max(head.head for head in heads) for heads in kinds]
        rows = max((1 + max(head.layer for head in heads) for heads in kinds), default=1)
        title, numbers = taller(_TITLE, font), taller(_HEADS, font)
        fixed = 2 * _MARGIN + len(kinds) * _NUMBERS + max(0, len(kinds) - 1) * _APART
        across = (width - fixed - room(font)) / max(1, sum(columns))
        down = (height - 2 * _MARGIN - title - numbers) / rows
        self.width = float(max(LEAST, min(int(across), MOST)))
        self.height = float(max(LEAST, min(int(down), MOST)))
        self.title, self.numbers = title, numbers
        self.top = _MARGIN + title + numbers
        self.lefts = []
        x = float(_MARGIN)
        for count in columns:
            self.lefts.append(x + _NUMBERS)
            x += _NUMBERS + count * self.width + _APART
        self.right = x - _APART
        self.bottom = self.top + rows * self.height

    def rect(self, head: Head) -> QRectF:
        left = self.lefts[self._place(head)]
        x, y = left + head.head * self.width, self.top + head.layer * self.height
        return QRectF(x, y, self.width - 1, self.height - 1)

    def head_at(self, point: QPointF) -> Head | None:
        return next((head for head in self if self.rect(head).contains(point)), None)

    def __iter__(self) -> Iterator[Head]:
        for heads in self.kinds:
            yield from heads

    def _place(self, head: Head) -> int:
        return next(i for i, heads in enumerate(self.kinds) if heads[0].kind is head.kind)


def draw_head_grid(
    painter: QPainter,
    rect: QRectF,
    grid: HeadGrid,
    layout: GridLayout,
    table: np.ndarray,
    theme: Theme,
    font: QFont,
    selected: Sequence[Head],
) -> None:
    """Draw the grid; `table` is RGBA uint8 [256, 4] by code (`colormap.lookup_table`)."""
    painter.save()
    small = scaled_font(font, 0.85)
    for index, heads in enumerate(layout.kinds):
        _draw_names(painter, layout, index, heads, theme, font, small)
    hatch = hatch_brush(theme, rect.topLeft(), painter.device().devicePixelRatioF())
    painter.setFont(small)
    metrics = QFontMetricsF(small)
    widest = max(map(metrics.horizontalAdvance, grid.texts.values()), default=0)
    has_room = widest + 2 <= layout.width and metrics.height() <= layout.height
    for head in layout:
        cell, level = layout.rect(head), grid.levels[head]
        if level is None:
            painter.fillRect(cell, hatch)
        else:
            color = QColor(*map(int, table[BLANK + round(max(0.0, min(level, 1.0)) * LEVELS)]))
            painter.fillRect(cell, color)
            if has_room:
                painter.setPen(_readable(color, theme))
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, grid.texts[head])
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawRect(cell)
        if head in grid.marked:
            _draw_corner(painter, cell, theme)
    for head in selected:
        if head in grid.levels:
            painter.setPen(QPen(theme.color("paper"), 4))
            painter.drawRect(layout.rect(head))
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRect(layout.rect(head))
    end = rect.bottomRight() - QPointF(0, 2 * GRID)
    bar = QRectF(QPointF(layout.right + _MARGIN, layout.top), end)
    draw_color_bar(painter, bar, table, theme, font, legend=grid.legend, masked=False)
    painter.restore()


def _draw_names(
    painter: QPainter,
    layout: GridLayout,
    index: int,
    heads: Sequence[Head],
    theme: Theme,
    font: QFont,
    small: QFont,
) -> None:
    left = layout.lefts[index]
    painter.setFont(font)
    painter.setPen(theme.color("ink"))
    title = QRectF(left, _MARGIN, grown(50 * GRID, painter.font()), layout.title)
    painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, TITLES[heads[0].kind])
    painter.setFont(small)
    painter.setPen(theme.color("faint"))
    for number in range(1 + max(head.head for head in heads)):
        cell = QRectF(
            left + number * layout.width,
            layout.top - layout.numbers,
            layout.width - 1,
            layout.numbers,
        )
        painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, str(number + 1))
    for number in range(1 + max(head.layer for head in heads)):
        top = layout.top + number * layout.height
        cell = QRectF(left - _NUMBERS, top, _NUMBERS - 2 * GRID, layout.height - 1)
        align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(cell, align, str(number + 1))


def _draw_corner(painter: QPainter, cell: QRectF, theme: Theme) -> None:
    corner = cell.topRight()
    points = [corner, corner - QPointF(_CORNER, 0), corner + QPointF(0, _CORNER)]
    painter.setPen(QPen(theme.color("paper"), 1))
    painter.setBrush(theme.color("warning"))
    painter.drawPolygon(QPolygonF(points))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _readable(ground: QColor, theme: Theme) -> QColor:
    """Of paper and ink the one that stands out more on this ground."""
    return max(
        (theme.color("ink"), theme.color("paper")),
        key=lambda color: abs(color.lightnessF() - ground.lightnessF()),
    )
