"""Where everything is in the picture of one query's row: columns by step, a line per key.

Shapes: K keys, d_k and d_v head widths.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from transformer_viz.drawing import strips
from transformer_viz.drawing.theme import GRID, grown, scaled_font, taller

_LINE = 6 * GRID
MARGIN = 4 * GRID
COLUMN_GAP = 3 * GRID
FORMULA_SIZE = 0.85  # of the font
_HEADER = 10 * GRID
_PAIR = 26 * GRID  # the pair in detail, below the table
_PAIR_PITCH = 5 * GRID
_MIDDLE = 6 * GRID  # between its two sides
_NARROWEST_STRIP, _WIDEST_STRIP = 20 * GRID, 64 * GRID  # the first has room for the legend
_PLAIN_CELL, _WIDEST_CELL = 2, 4 * GRID  # up to the first, strips come before long labels
_LABELS = (20 * GRID, 36 * GRID)  # the least and most that the keys' labels take


class Column(StrEnum):
    KEY = "key"
    PRODUCTS = "products"
    SUM = "sum"
    SCORE = "score"
    EXPONENTIAL = "exponential"
    WEIGHT = "weight"
    VALUES = "values"


NUMBERS = (Column.SUM, Column.SCORE, Column.EXPONENTIAL, Column.WEIGHT)


class Strip(StrEnum):
    """The strips of one pair: along d_k on the left, along d_v on the right."""

    QUERY = "q"
    KEY = "k"
    PRODUCTS = "q ∘ k"
    VALUE = "v"
    WEIGHTED = "w · v"
    OUTPUT = "z"


LEFT_STRIPS = (Strip.QUERY, Strip.KEY, Strip.PRODUCTS)
RIGHT_STRIPS = (Strip.VALUE, Strip.WEIGHTED, Strip.OUTPUT)


@dataclass(frozen=True, slots=True)
class ScoreLayout:
    """The places in the picture: bands from top to bottom, columns from left to right; `scroll` is
    how far the body's lines have moved up, in pixels."""

    spans: Mapping[Column, tuple[float, float]]  # left, right
    entropies: QRectF
    header: QRectF
    query: QRectF
    body: QRectF
    total: QRectF
    pair: QRectF
    strips: Mapping[Strip, QRectF]  # in `pair`
    widths: tuple[int, int]  # d_k, d_v
    lines: int
    scroll: float
    pitch: float  # from one line to the next

    def cell(self, column: Column, band: QRectF) -> QRectF:
        left, right = self.spans[column]
        return QRectF(left, band.top(), right - left, band.height())

    def strip(self, column: Column, band: QRectF) -> QRectF:
        """The strip of a column, in the middle of a band."""
        cell = self.cell(column, band)
        top = math.floor(cell.center().y() - strips.HEIGHT / 2)
        return QRectF(cell.left(), top, cell.width(), strips.HEIGHT)

    def line(self, position: int) -> QRectF:
        top = self.body.top() + position * self.pitch - self.scroll
        return QRectF(self.body.left(), top, self.body.width(), self.pitch)

    def visible(self) -> range:
        first = math.floor(self.scroll / self.pitch)
        last = math.ceil((self.scroll + self.body.height()) / self.pitch)
        return range(first, min(last, self.lines))

    def position_at(self, point: QPointF) -> int | None:
        """The line under a point."""
        if not self.body.contains(point):
            return None
        position = math.floor((point.y() - self.body.top() + self.scroll) / self.pitch)
        return position if position < self.lines else None

    def column_at(self, x: float) -> Column | None:
        for column, (left, right) in self.spans.items():
            if left - COLUMN_GAP / 2 <= x < right + COLUMN_GAP / 2:
                return column
        return None

    def dimensions_at(self, point: QPointF) -> tuple[int | None, int | None]:
        """The dimension along d_k, and that along d_v, of the strip under a point."""
        areas = [(strip in LEFT_STRIPS, rect) for strip, rect in self.strips.items()]
        for band in (self.query, self.body, self.total):
            areas.append((True, self.cell(Column.PRODUCTS, band)))
            areas.append((False, self.cell(Column.VALUES, band)))
        for along_keys, rect in areas:
            if rect.contains(point):
                count = self.widths[0] if along_keys else self.widths[1]
                dimension = strips.dimension_at(rect, point.x(), count)
                return (dimension, None) if along_keys else (None, dimension)
        return None, None


def lay_out_scores(
    rect: QRectF,
    *,
    lines: int,
    widths: tuple[int, int],
    labels: float,
    titles: Mapping[Column, tuple[str, str]],
    font: QFont,
    scroll: float = 0.0,
    detail: bool = True,
) -> ScoreLayout:
    """Divide `rect`; the body takes as many lines as fit, and the rest follows right below.

    Args:
        widths: d_k and d_v.
        labels: the width that the keys' labels want.
        detail: whether one pair is shown in detail below the table.
        titles: title and formula at the head of each column.
    """
    line, below = line_height(font), _detail_height(font) * detail
    entropies = QRectF(rect.left(), rect.top(), rect.width(), line)
    head = QRectF(rect.left(), entropies.bottom() + GRID, rect.width(), taller(_HEADER, font, 2))
    query = QRectF(rect.left(), head.bottom() + GRID, rect.width(), line)
    room = rect.bottom() - query.bottom() - (line + GRID) - below
    height = max(line, min(room, lines * line))
    body = QRectF(rect.left(), query.bottom(), rect.width(), height)
    total = QRectF(rect.left(), body.bottom() + GRID, rect.width(), line)
    pair = QRectF(rect.left(), total.bottom(), rect.width(), below)
    return ScoreLayout(
        spans=_spans(rect, widths, labels, titles, font),
        entropies=entropies,
        header=head,
        query=query,
        body=body,
        total=total,
        pair=pair,
        strips=_pair_strips(pair, font) if detail else {},
        widths=widths,
        lines=lines,
        scroll=max(0.0, min(scroll, lines * line - height)),
        pitch=line,
    )


def line_height(font: QFont) -> int:
    return taller(_LINE, font)


def _detail_height(font: QFont) -> int:
    return taller(_PAIR, font, 4)


def full_height(lines: int, font: QFont, *, detail: bool = True) -> int:
    """The height of a picture of so many lines, none of them hidden."""
    fixed = 3 * GRID + taller(_HEADER, font, 2) + _detail_height(font) * detail
    return fixed + (lines + 3) * line_height(font)


def _pair_strips(pair: QRectF, font: QFont) -> dict[Strip, QRectF]:
    """Three strips on either side, beside room for their names."""
    name = math.ceil(QFontMetricsF(font).horizontalAdvance(Strip.WEIGHTED)) + 2 * GRID
    pitch = taller(_PAIR_PITCH, font)
    half = math.floor((pair.width() - 2 * MARGIN - _MIDDLE) / 2)
    result = {}
    for side, names in enumerate((LEFT_STRIPS, RIGHT_STRIPS)):
        left = pair.left() + MARGIN + side * (half + _MIDDLE) + name
        for index, strip in enumerate(names):
            top = pair.bottom() - GRID - (len(names) - index) * pitch
            result[strip] = QRectF(left, top, half - name, pitch - GRID)
    return result


def _spans(
    rect: QRectF,
    widths: tuple[int, int],
    labels: float,
    titles: Mapping[Column, tuple[str, str]],
    font: QFont,
) -> dict[Column, tuple[float, float]]:
    columns = {column: _number_width(titles[column], font) for column in NUMBERS}
    gaps = COLUMN_GAP * (len(Column) - 1)
    room = rect.width() - 2 * MARGIN - sum(columns.values()) - gaps  # for labels and strips
    least, most = (grown(width, font) for width in _LABELS)
    labels = max(least, min(labels, most))
    for column, cells in zip((Column.PRODUCTS, Column.VALUES), widths, strict=True):
        before_labels = min(_PLAIN_CELL * cells, (room - least) / 2)
        columns[column] = _strip_width(max((room - labels) / 2, before_labels), cells)
    room -= columns[Column.PRODUCTS] + columns[Column.VALUES]
    columns[Column.KEY] = min(labels, max(room, least))
    extra = max(0.0, room - columns[Column.KEY]) / len(NUMBERS)
    for column in NUMBERS:
        columns[column] += math.floor(min(extra, 10 * GRID))
    spans, left = {}, rect.left() + MARGIN
    for column in Column:
        spans[column] = (left, left + columns[column])
        left += columns[column] + COLUMN_GAP
    return spans


def _number_width(title: tuple[str, str], font: QFont) -> float:
    bold, small = scaled_font(font, 1.0, bold=True), scaled_font(font, FORMULA_SIZE)
    widest = max(
        QFontMetricsF(bold).horizontalAdvance(title[0]),
        QFontMetricsF(small).horizontalAdvance(title[1]),
        QFontMetricsF(font).horizontalAdvance("−000.00"),
    )
    return math.ceil(widest / GRID + 1) * GRID


def _strip_width(room: float, cells: int) -> float:
    """Whole pixels to a cell where there is a pixel for each."""
    room = max(_NARROWEST_STRIP, min(room, _WIDEST_STRIP))
    widest = max(_WIDEST_CELL, math.ceil(_NARROWEST_STRIP / cells))
    return cells * math.floor(min(room / cells, widest)) if room >= cells else room
