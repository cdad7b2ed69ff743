"""One head's map of a sentence and of its variant, beside each other, all on one scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.text.tokens import Token
from core.trace.trace import Head
from core.trace.variant import Variant, restored
from transformer_viz.drawing import axes
from transformer_viz.drawing.axes import Axis
from transformer_viz.drawing.colormap import encode
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.pooling import pool_max
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

LARGEST = 512  # cells a side; a longer sentence is pooled
LARGEST_CELL = 8 * GRID
MARGIN = 6 * GRID  # right of each map, for the slant of its labels
_SMALL = 0.75  # of the font, for tokens


@dataclass(frozen=True, slots=True, eq=False)
class TokenMap:
    """The map of one order of a sentence.

    Attributes:
        codes: uint8 [S, S] or, of a long sentence, pooled.
        order: [S], the place in the sentence of each row and column.
    """

    title: str
    codes: np.ndarray
    tokens: tuple[Token, ...]
    order: tuple[int, ...]


def variant_maps(variant: Variant, head: Head) -> tuple[TokenMap, ...]:
    """The encoder head in the reference and in the variant, and, if this is shuffled, before that
    with rows and columns put back in order. Safe to run in any thread."""
    tokens = variant.reference.source_tokens
    before, after = variant.reference.weights(*head), variant.trace.weights(*head)
    straight = tuple(range(len(tokens)))
    if not variant.shuffled:
        return (
            TokenMap("With positions", _codes(before), tokens, straight),
            TokenMap("Without positions", _codes(after), tokens, straight),
        )
    back = restored(after, variant.order)
    return (
        TokenMap("In order", _codes(before), tokens, straight),
        TokenMap("Put back in order", _codes(back), tokens, straight),
        TokenMap("In another order", _codes(after), variant.trace.source_tokens, variant.order),
    )


def _codes(weights: np.ndarray) -> np.ndarray:
    return pool_max(encode(weights, np.ones(weights.shape, np.bool_)), LARGEST)


@dataclass(frozen=True, slots=True)
class VariantLayout:
    """The places of the cells of each map, in pixels.

    Attributes:
        labelled: which maps have row labels: not those whose rows are as in the map before.
        count: cells a side.
        cell: the size of one.
        row_labels, column_labels: the room beside and above the cells.
    """

    cells: tuple[QRectF, ...]
    labelled: tuple[bool, ...]
    count: int
    cell: QSizeF
    row_labels: float
    column_labels: float

    def cell_at(self, point: QPointF) -> tuple[int, int, int] | None:
        """The map, row and column under a point."""
        for index, rect in enumerate(self.cells):
            row = math.floor((point.y() - rect.top()) / self.cell.height())
            column = math.floor((point.x() - rect.left()) / self.cell.width())
            if 0 <= row < self.count and 0 <= column < self.count:
                return index, row, column
        return None

    def cell_rect(self, index: int, row: int, column: int) -> QRectF:
        offset = QPointF(column * self.cell.width(), row * self.cell.height())
        return QRectF(self.cells[index].topLeft() + offset, self.cell)


def lay_out_variant(rect: QRectF, maps: Sequence[TokenMap], font: QFont) -> VariantLayout:
    """Lay out all maps in one size, as large as fits; rows are high enough for letters where there
    is room, even if columns are narrower."""
    small = scaled_font(font, _SMALL)
    tokens, orders = maps[0].tokens, [one.order for one in maps]
    count = len(tokens)
    labelled = (True, *(order != before for before, order in pairwise(orders)))
    numbers = axes.numbers_width(small, count) + 2 * GRID
    row_labels = min(axes.rows_room(small, tokens, ()), 0.3 * rect.width() / len(maps))
    column_labels = min(axes.columns_room(small, tokens), 0.3 * rect.height())
    left = numbers + row_labels + 2 * GRID
    title = QFontMetricsF(font).height() + GRID
    top = title + axes.columns_height(small, column_labels)
    width = max((rect.width() - sum(labelled) * left) / len(maps) - MARGIN, 4.0 * GRID)
    height = max(rect.height() - top - GRID, 4.0 * GRID)
    pitch = min(width / count, height / count, LARGEST_CELL)
    cell = QSizeF(pitch, max(pitch, min(height / count, QFontMetricsF(small).height())))
    cells, x = [], rect.left()
    for own in labelled:
        x += own * left
        cells.append(QRectF(QPointF(math.ceil(x), math.ceil(rect.top() + top)), cell * count))
        x += pitch * count + MARGIN
    return VariantLayout(tuple(cells), labelled, count, cell, left, column_labels)


def draw_variant(
    painter: QPainter,
    rect: QRectF,
    maps: Sequence[TokenMap],
    layout: VariantLayout,
    table: np.ndarray,
    theme: Theme,
    font: QFont,
    focus: tuple[int, int] | None,
) -> None:
    """Draw the maps; `focus`: query and key by their place in the sentence, framed in every map,
    `table`: RGBA uint8 [256, 4] by code."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    small = scaled_font(font, _SMALL)
    for index, (one, cells) in enumerate(zip(maps, layout.cells, strict=True)):
        painter.setFont(scaled_font(font, 1.0, bold=True))
        painter.setPen(theme.color("ink"))
        left = cells.left() - layout.labelled[index] * layout.row_labels
        title = QPointF(left, rect.top() + QFontMetricsF(painter.font()).ascent())
        painter.drawText(title, one.title)
        painter.drawImage(cells, to_image(table[one.codes]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.color("border"))
        painter.drawRect(cells.adjusted(-0.5, -0.5, 0.5, 0.5))
        row, column = (one.order.index(at) for at in focus) if focus else (None, None)
        numbers = tuple(place + 1 for place in one.order)
        if layout.labelled[index]:
            axes.draw_rows(
                painter,
                Axis(
                    one.tokens,
                    cells.top(),
                    layout.cell.height(),
                    cells.top(),
                    cells.bottom(),
                    numbers,
                ),
                (),
                left=left,
                right=cells.left() - 2 * GRID,
                font=small,
                theme=theme,
                marked=row,
            )
        axes.draw_columns(
            painter,
            Axis(
                one.tokens, cells.left(), layout.cell.width(), cells.left(), cells.right(), numbers
            ),
            bottom=cells.top(),
            room=layout.column_labels,
            font=small,
            theme=theme,
            marked=column,
        )
        if row is not None and column is not None:
            frame = layout.cell_rect(index, row, column)
            painter.setPen(QPen(theme.color("paper"), 4))
            painter.drawRect(frame)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRect(frame)
    painter.restore()
