"""Several maps of the same axes as one picture: small, side by side, each with its name below.

Rows are labelled at the left of the grid, columns above it; all maps share one colour bar.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter

from transformer_viz.drawing import axes, colorbar
from transformer_viz.drawing.axes import Axis
from transformer_viz.drawing.marks import Marks, draw_marks
from transformer_viz.drawing.matrix import LARGEST_FIT, MARGIN, MatrixLayout, MatrixPicture, Style
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.state.selection import Cell

_GAP = 4 * GRID
_CAPTION = 6 * GRID  # below each map
_LEAST = 8 * GRID  # of a map's side, however small the picture


@dataclass(frozen=True, slots=True)
class GridLayout:
    """The place of each map, in reading order, `across` in a line."""

    tiles: tuple[MatrixLayout, ...]
    across: int

    def caption(self, index: int) -> QRectF:
        matrix = self.tiles[index].matrix
        return QRectF(matrix.left(), matrix.bottom() + GRID, matrix.width(), _CAPTION - GRID)

    def tile_at(self, point: QPointF) -> int | None:
        """The map that a point is on, its caption included."""
        for index, tile in enumerate(self.tiles):
            if tile.matrix.contains(point) or self.caption(index).contains(point):
                return index
        return None

    def cell_at(self, point: QPointF) -> Cell:
        for tile in self.tiles:
            if tile.matrix.contains(point):
                rows, columns = tile.shape
                row = math.floor((point.y() - tile.top) / tile.cell)
                column = math.floor((point.x() - tile.left) / tile.cell)
                return min(row, rows - 1), min(column, columns - 1)
        return None, None


def fit_grid(
    picture: MatrixPicture, count: int, size: QSizeF, font: QFont, ratio: float
) -> GridLayout:
    """Fit `count` maps like `picture`, as large as they can be in a picture of this size."""
    rows, columns = picture.shape
    numbers = axes.numbers_width(font, picture.row_numbers[-1])
    row_labels = min(axes.rows_room(font, picture.rows, picture.predicted), 0.3 * size.width())
    column_labels = axes.columns_room(font, picture.columns)
    left = math.ceil(MARGIN + numbers + 2 * GRID + row_labels + 2 * GRID)
    top = math.ceil(axes.columns_height(font, column_labels) + GRID)
    right = max(colorbar.room(font) + 6 * GRID, axes.SLANT * column_labels) + MARGIN
    room = QSizeF(size.width() - left - right, size.height() - top - MARGIN)

    def side(across: int) -> float:
        down = math.ceil(count / across)
        width = (room.width() - (across - 1) * _GAP) / across - 1  # maps begin at whole pixels
        height = (room.height() - (down - 1) * _GAP) / down - _CAPTION - 1
        return min(width / columns, height / rows, LARGEST_FIT)

    across = max(range(1, count + 1), key=side)
    cell = max(side(across), _LEAST / max(rows, columns))
    if cell * ratio >= 2 * GRID:
        cell = math.floor(cell * ratio) / ratio
    width, height = columns * cell, rows * cell
    tiles = []
    for index in range(count):
        down, along = divmod(index, across)
        x = left + along * math.ceil(width + _GAP)
        y = top + down * math.ceil(height + _CAPTION + _GAP)
        area = QRectF(x, y, width, height)
        tiles.append(MatrixLayout(picture.shape, area, cell, cell, x, y, column_labels))
    return GridLayout(tuple(tiles), across)


def draw_grid(
    painter: QPainter,
    layout: GridLayout,
    pictures: Sequence[MatrixPicture],
    images: Sequence[QImage],
    names: Sequence[str],
    values: Sequence[str],
    style: Style,
    height: float,
    *,
    marks: Marks,
    current: int | None,
    focused: bool,
) -> None:
    """Draw maps beside each other. `images`: the cells of the maps that have arrived
    (`matrix.matrix_image`); `names`, and `values` if there are any, are written below them;
    `current`: the map whose name is stressed; `focused`: whether keys go to the maps."""
    theme, font = style.theme, style.font
    first = pictures[0]
    for index, (tile, image) in enumerate(zip(layout.tiles, images, strict=False)):
        painter.drawImage(tile.matrix, image)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.color("accent" if focused else "border"))
        painter.drawRect(tile.matrix)
        across = Axis(first.columns, tile.left, tile.cell, tile.left, tile.matrix.right())
        sinks = pictures[index].sinks
        axes.mark_columns(painter, across, sinks, bottom=tile.matrix.top(), theme=theme)
        draw_marks(painter, tile, marks, theme)
        value = values[index] if values else ""
        _draw_caption(painter, layout.caption(index), names[index], value, style, index == current)
        along, matrix = index % layout.across, tile.matrix
        if along == 0:
            axes.draw_rows(
                painter,
                Axis(first.rows, tile.top, tile.cell, tile.top, matrix.bottom(), first.row_numbers),
                first.predicted,
                left=MARGIN,
                right=matrix.left() - 2 * GRID,
                font=font,
                theme=theme,
                marked=marks.focus[0],
            )
        if index < layout.across:
            axes.draw_columns(
                painter,
                Axis(
                    first.columns,
                    tile.left,
                    tile.cell,
                    tile.left,
                    matrix.right(),
                    first.column_numbers,
                ),
                bottom=matrix.top(),
                room=tile.column_labels,
                font=font,
                theme=theme,
                marked=marks.focus[1],
            )
    top, right = layout.tiles[0].top, layout.tiles[layout.across - 1].matrix.right()
    colorbar.draw_color_bar(
        painter,
        QRectF(right + 6 * GRID, top, colorbar.room(font), height - top - MARGIN),
        style.table,
        theme,
        font,
        legend=first.legend,
        masked=first.masked,
    )


def _draw_caption(
    painter: QPainter, rect: QRectF, name: str, value: str, style: Style, current: bool
) -> None:
    painter.setFont(scaled_font(style.font, 0.9, bold=current))
    metrics = QFontMetricsF(painter.font())
    painter.setPen(style.theme.color("accent" if current else "ink"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
    painter.setPen(style.theme.color("soft"))
    if metrics.horizontalAdvance(f"{name}  {value}") <= rect.width():
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, value)
    painter.setFont(style.font)
