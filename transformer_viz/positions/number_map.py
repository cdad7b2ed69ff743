"""A matrix of signed numbers over positions: cells, numbered axes, a colour bar, and marks where
what the model knows of positions ends. Rows are positions; columns are positions or dimensions.
"""

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QPen

from transformer_viz.drawing.colorbar import draw_color_bar, room
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.labels import label_step
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme, scaled_font
from transformer_viz.positions.extent import Extent, draw_tags, region_brush, regions

MARGIN = 4 * GRID
_TICK = GRID
_USED = 0.85  # at least so much of the room is used by cells of whole pixels


@dataclass(frozen=True, slots=True)
class NumberMap:
    """A map of signed numbers with its labels.

    Attributes:
        codes: uint8 [R, C] (`diverging.encode_signed`); rows, and of a square map columns, beyond
            the end of a learned table are masked.
        extent: of the rows; R is `extent.shown`.
        square: columns are the same positions as rows.
        columns: what a column is.
        legend: beside the colour bar.
    """

    codes: np.ndarray
    extent: Extent
    square: bool
    columns: str
    legend: Legend


@dataclass(frozen=True, slots=True)
class MapLayout:
    """The places of the cells, in pixels."""

    cells: QRectF
    rows: int
    columns: int

    @property
    def height(self) -> float:
        return self.cells.height() / self.rows

    @property
    def width(self) -> float:
        return self.cells.width() / self.columns

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        row = math.floor((point.y() - self.cells.top()) / self.height)
        column = math.floor((point.x() - self.cells.left()) / self.width)
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return (row, column) if inside else None

    def cell_rect(self, row: int, column: int) -> QRectF:
        left = self.cells.left() + column * self.width
        top = self.cells.top() + row * self.height
        return QRectF(left, top, self.width, self.height)


def lay_out_map(rect: QRectF, shape: tuple[int, int], square: bool, font: QFont) -> MapLayout:
    """The largest cells that fit beside the labels, of whole pixels where that wastes little."""
    rows, columns = shape
    small = QFontMetricsF(scaled_font(font, 0.85))
    left = MARGIN + small.horizontalAdvance(str(rows)) + _TICK + GRID
    top = 2 * small.height() + _TICK + GRID
    width = rect.width() - left - room(font) - 2 * MARGIN
    height = rect.height() - top - MARGIN
    cell_width, cell_height = max(width, 1.0) / columns, max(height, 1.0) / rows
    if square:
        cell_width = cell_height = min(cell_width, cell_height)
    cell_width, cell_height = _crisp(cell_width), _crisp(cell_height)
    corner = rect.topLeft() + QPointF(math.ceil(left), math.ceil(top))
    cells = QRectF(corner.x(), corner.y(), cell_width * columns, cell_height * rows)
    return MapLayout(cells, rows, columns)


def map_image(picture: NumberMap, layout: MapLayout, table: np.ndarray, ratio: float) -> QImage:
    """The cells at ``ratio`` pixels per logical one. Where cells are smaller than pixels, a pixel
    has their mean; where they take no whole number of pixels, only their edges are mixed.

    `table`: RGBA uint8 [256, 4] by code.
    """
    across, down = (max(1, round(size * ratio)) for size in (layout.width, layout.height))
    enlarged = to_image(table[picture.codes.repeat(down, axis=0).repeat(across, axis=1)])
    size = QSize(
        max(1, round(layout.cells.width() * ratio)), max(1, round(layout.cells.height() * ratio))
    )
    return enlarged.scaled(
        size,
        Qt.AspectRatioMode.IgnoreAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )


def draw_number_map(
    painter: QPainter,
    rect: QRectF,
    picture: NumberMap,
    layout: MapLayout,
    image: QImage,
    table: np.ndarray,
    theme: Theme,
    font: QFont,
) -> None:
    """Draw the map with `image`, which `map_image` makes once for many paintings."""
    painter.save()
    _draw_regions(painter, rect, picture, layout, theme)
    painter.drawImage(layout.cells, image)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(theme.color("border"))
    painter.drawRect(layout.cells.adjusted(-0.5, -0.5, 0.5, 0.5))
    _draw_axes(painter, picture, layout, theme, font)
    _draw_marks(painter, picture, layout, theme, font)
    bar = QRectF(layout.cells.topRight(), rect.bottomRight())
    draw_color_bar(
        painter,
        bar.adjusted(MARGIN, 0, 0, -MARGIN),
        table,
        theme,
        font,
        legend=picture.legend,
        masked=False,
    )
    painter.restore()


def _crisp(size: float) -> float:
    whole = math.floor(size)
    return whole if whole >= _USED * size else size


def _draw_regions(
    painter: QPainter, rect: QRectF, picture: NumberMap, layout: MapLayout, theme: Theme
) -> None:
    """The ground of each region, from edge to edge of the picture: seen beside the cells, and
    where there are none."""
    cells, extent = layout.cells, picture.extent
    right = cells.right() + MARGIN / 2
    for start, stop in regions(extent):
        brush = region_brush(extent, start, theme, cells.topLeft())
        if brush is None:
            continue
        top, bottom = (cells.top() + at * layout.height for at in (start, stop))
        painter.fillRect(QRectF(QPointF(rect.left(), top), QPointF(right, bottom)), brush)
        if picture.square:
            left, end = (cells.left() + at * layout.width for at in (start, stop))
            painter.fillRect(QRectF(QPointF(left, rect.top()), QPointF(end, bottom)), brush)


def _draw_axes(
    painter: QPainter, picture: NumberMap, layout: MapLayout, theme: Theme, font: QFont
) -> None:
    cells = layout.cells
    small = scaled_font(font, 0.85)
    metrics = QFontMetricsF(small)
    line = metrics.height()
    digits = metrics.horizontalAdvance(str(max(layout.rows, layout.columns)))
    painter.setFont(small)
    painter.setPen(theme.color("soft"))
    for row in range(0, layout.rows, label_step(layout.height, 1.5 * line)):
        y = cells.top() + (row + 0.5) * layout.height
        painter.drawLine(QPointF(cells.left() - _TICK, y), QPointF(cells.left() - 1, y))
        right = cells.left() - _TICK - GRID
        box = QRectF(right - digits, y - line / 2, digits, line)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(row))
    for column in range(0, layout.columns, label_step(layout.width, 2 * digits)):
        x = cells.left() + (column + 0.5) * layout.width
        painter.drawLine(QPointF(x, cells.top() - _TICK), QPointF(x, cells.top() - 1))
        box = QRectF(x - digits, cells.top() - _TICK - line, 2 * digits, line)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(column))
    top = cells.top() - _TICK - 2 * line
    painter.drawText(QPointF(MARGIN, top + metrics.ascent()), "position ↓")
    names = QRectF(cells.left(), top, max(cells.width(), 20 * GRID), line)
    painter.drawText(names, Qt.AlignmentFlag.AlignRight, f"{picture.columns} →")


def _draw_marks(
    painter: QPainter, picture: NumberMap, layout: MapLayout, theme: Theme, font: QFont
) -> None:
    cells = layout.cells
    places = []
    for mark in picture.extent.marks():
        y = cells.top() + mark.position * layout.height
        painter.setPen(QPen(theme.color(mark.token), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(cells.left() - 2 * GRID, y), QPointF(cells.right(), y))
        if picture.square:
            x = cells.left() + mark.position * layout.width
            painter.drawLine(QPointF(x, cells.top() - 2 * GRID), QPointF(x, cells.bottom()))
        places.append((mark, QPointF(cells.left(), y)))
    painter.setFont(font)
    draw_tags(painter, places, cells.right() - GRID, theme)
