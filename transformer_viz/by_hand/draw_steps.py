"""The steps of attention as a row of small tables: scores, scaled, softmax, output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from transformer_viz.by_hand.sheet import Sheet
from transformer_viz.drawing.colormap import encode, lookup_table
from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.options import ColorMap

_GAP = 7 * GRID  # between two tables
_PAD = 2 * GRID


@dataclass(frozen=True, slots=True)
class StepTable:
    """One of the tables.

    Attributes:
        title, about: above it; `about` is the formula.
        texts: what its cells say.
        codes: of their colours in a table of 256; None for cells without.
        is_signed: whether they are those of the diverging map.
    """

    title: str
    about: str
    rows: Sequence[str]
    columns: Sequence[str]
    texts: list[list[str]]
    codes: NDArray[np.uint8] | None
    is_signed: bool = False


def step_tables(sheet: Sheet) -> list[StepTable]:
    """The tables of a sheet, in the order of the formula."""
    rows, asking, names = sheet.rows(), sheet.asking_names, sheet.names
    products, scores = np.array([row.sums for row in rows]), np.array([row.scores for row in rows])
    allowed = np.array([row.allowed for row in rows])
    weights = np.array([row.weights for row in rows])
    output = np.array([row.output for row in rows])
    limit = float(np.abs(products).max())
    divided = "s = q · k / √d_k" if sheet.scaled else "s = q · k, not divided"
    if not allowed.all():
        divided += ", masked: −∞"
    bits = float(np.mean([row.entropy for row in rows]))
    entropy = f"{'entropy' if len(asking) == 1 else 'mean entropy'} {bits:.2f} bits"
    dimensions = [str(at + 1) for at in range(sheet.values.shape[1])]
    return [
        StepTable(
            "Scores",
            "q · k",
            asking,
            names,
            _texts(products),
            encode_signed(products, limit),
            is_signed=True,
        ),
        StepTable(
            "Into the softmax",
            divided,
            asking,
            names,
            _texts(scores, allowed, "−∞"),
            encode_signed(scores, limit, allowed),
            is_signed=True,
        ),
        StepTable(
            "Weights",
            f"softmax(s); {entropy}",
            asking,
            names,
            _texts(weights, allowed, "masked", digits=3),
            encode(weights, allowed),
        ),
        StepTable("Output", "Σ weight · v", asking, dimensions, _texts(output), None),
    ]


def _texts(
    numbers: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None = None,
    masked: str = "",
    digits: int = 2,
) -> list[list[str]]:
    return [
        [
            masked if allowed is not None and not allowed[i, j] else signed(float(number), digits)
            for j, number in enumerate(row)
        ]
        for i, row in enumerate(numbers)
    ]


def tables_size(tables: Sequence[StepTable], font: QFont, width: float) -> QSizeF:
    """The size of the picture, wrapped so that it is no wider than it must be for `width`."""
    placed = list(_placed(tables, font, width))
    return QSizeF(
        max(rect.right() for _, rect in placed) + _PAD,
        max(rect.bottom() for _, rect in placed) + _PAD,
    )


def draw_tables(
    painter: QPainter,
    tables: Sequence[StepTable],
    theme: Theme,
    color_map: ColorMap,
    font: QFont,
    width: float,
) -> None:
    """Paint the tables from the origin, as many in a line as `width` holds."""
    painter.save()
    painter.setFont(font)
    colors = {True: diverging_table(theme), False: lookup_table(color_map, theme)}
    for table, rect in _placed(tables, font, width):
        _draw_table(painter, table, rect, theme, colors[table.is_signed], font)
    painter.restore()


def _placed(
    tables: Sequence[StepTable], font: QFont, width: float
) -> Iterator[tuple[StepTable, QRectF]]:
    left, top, lowest = float(_PAD), float(_PAD), float(_PAD)
    for table in tables:
        size = _table_size(table, font)
        if left > _PAD and left + size.width() + _PAD > width:
            left, top = float(_PAD), lowest + 4 * GRID
        yield table, QRectF(QPointF(left, top), size)
        left += size.width() + _GAP
        lowest = max(lowest, top + size.height())


def _cell(table: StepTable, font: QFont) -> QSizeF:
    metrics = QFontMetricsF(font)
    widest = max(
        metrics.horizontalAdvance(text)
        for text in [*table.columns, *(text for row in table.texts for text in row)]
    )
    return QSizeF(widest + 3 * GRID, metrics.height() * 1.7)


def _labels_width(table: StepTable, font: QFont) -> float:
    return max(QFontMetricsF(font).horizontalAdvance(name) for name in table.rows) + 2 * GRID


def _table_size(table: StepTable, font: QFont) -> QSizeF:
    metrics, cell = QFontMetricsF(font), _cell(table, font)
    heads = max(metrics.horizontalAdvance(table.title), metrics.horizontalAdvance(table.about))
    cells = _labels_width(table, font) + cell.width() * len(table.columns)
    return QSizeF(max(heads, cells), 3.4 * metrics.height() + cell.height() * len(table.rows))


def _draw_table(
    painter: QPainter,
    table: StepTable,
    rect: QRectF,
    theme: Theme,
    colors: NDArray[np.uint8],
    font: QFont,
) -> None:
    metrics, cell = QFontMetricsF(font), _cell(table, font)
    line = metrics.height()
    bold = QFont(font)
    bold.setBold(True)
    painter.setFont(bold)
    painter.setPen(theme.color("ink"))
    painter.drawText(rect.topLeft() + QPointF(0, metrics.ascent()), table.title)
    painter.setFont(font)
    painter.setPen(theme.color("soft"))
    painter.drawText(rect.topLeft() + QPointF(0, line + metrics.ascent()), table.about)
    left, top = rect.left() + _labels_width(table, font), rect.top() + 3.3 * line
    centre = Qt.AlignmentFlag.AlignCenter
    for column, name in enumerate(table.columns):
        place = QRectF(left + column * cell.width(), top - 1.2 * line, cell.width(), line)
        painter.drawText(place, centre, name)
    for row, name in enumerate(table.rows):
        y = top + row * cell.height()
        beside = QRectF(rect.left(), y, left - rect.left() - 2 * GRID, cell.height())
        painter.setPen(theme.color("ink"))
        painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
        for column, text in enumerate(table.texts[row]):
            place = QRectF(left + column * cell.width(), y, cell.width(), cell.height())
            ink = theme.color("ink")
            if table.codes is not None:
                code = int(table.codes[row, column])
                if code:
                    red, green, blue = (int(part) for part in colors[code][:3])
                    painter.fillRect(place, QColor(red, green, blue))
                    ink = _readable(red, green, blue)
                else:
                    painter.fillRect(place, hatch_brush(theme, place.topLeft()))
                    ink = theme.color("soft")
            painter.setPen(theme.color("line"))
            painter.drawRect(place)
            painter.setPen(ink)
            painter.drawText(place, centre, text)


def _readable(red: int, green: int, blue: int) -> QColor:
    """Black or white, whichever contrasts more (WCAG's relative luminance)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red / 255, green / 255, blue / 255)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return QColor("#000000" if luminance > 0.179 else "#ffffff")
