"""One attention map as a picture: cells, labels on both axes, hidden weight, colour bar.

`MatrixPicture` is what is drawn, `MatrixLayout` where, `Style` how; any painter will do, that of a
widget or that of an SVG. Texts are drawn as texts.

Row i is an entry of the queries, column j one of the keys (`core.trace.head_map.Entries`); cells
are square. Shapes: R rows, C columns.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter

from core.text.tokens import Token
from transformer_viz.drawing import axes, colorbar, share_bars
from transformer_viz.drawing.axes import Axis
from transformer_viz.drawing.cells import cells_image, pixel_cells
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font
from transformer_viz.state.selection import Cell

LARGEST_FIT = 40 * GRID  # pixels: the largest cell of a map shown as a whole
LARGEST_CELL = 48 * GRID  # … and of one zoomed into
MARGIN = 4 * GRID
_HIDDEN_ROOM = 11 * GRID
_ELONGATED = 2.0  # a map that could be so many times larger if all of one side need not fit
_LEAST = 8 * GRID  # of the area for cells, however small the rectangle


@dataclass(frozen=True, slots=True, eq=False)
class MatrixPicture:
    """A map with its labels, as it is drawn.

    Attributes:
        pyramid: codes, uint8 [R, C] or, of a map that is only shown small, pooled.
        row_numbers, column_numbers: [R], [C], what to write beside each entry, from 1.
        predicted: [R], what each row predicts, or nothing.
        masked: whether some cells are.
        hidden: [R], each row's weight on keys that are left out; None if none are.
        source: [R], the share of each row that comes from the source; None if it has no such.
        sinks: the columns that receive weight whatever the row is.
    """

    pyramid: Pyramid
    rows: tuple[Token, ...]
    columns: tuple[Token, ...]
    row_numbers: tuple[int, ...]
    column_numbers: tuple[int, ...]
    predicted: tuple[Token, ...]
    masked: bool
    legend: Legend
    hidden: np.ndarray | None = None
    source: np.ndarray | None = None
    sinks: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    def beside(self, font: QFont) -> float:
        """The width of what stands at the ends of the rows."""
        hidden, source = self.hidden is not None, self.source is not None
        return hidden * hidden_room(font) + source * share_bars.room(font)


@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """The theme, colours and font of a picture; `table` is RGBA uint8 [256, 4] by code
    (`colormap.lookup_table`)."""

    theme: Theme
    table: np.ndarray
    font: QFont


@dataclass(frozen=True, slots=True)
class MatrixLayout:
    """The places of cells, in pixels. It is a value: zooming and panning give another one.

    Attributes:
        area: where cells may be.
        whole: the side of a cell with which the whole map fits the area.
        cell: the side of a cell; cell (0, 0) begins at `left`, `top`.
        column_labels: the length that these take along their slant.
    """

    shape: tuple[int, int]
    area: QRectF
    whole: float
    cell: float
    left: float
    top: float
    column_labels: float

    @property
    def fitted(self) -> bool:
        return self.cell <= self.whole

    @property
    def matrix(self) -> QRectF:
        """The visible part of the map."""
        rows, columns = self.shape
        right = min(self.area.right(), self.left + columns * self.cell)
        bottom = min(self.area.bottom(), self.top + rows * self.cell)
        return QRectF(self.area.topLeft(), QPointF(right, bottom))

    def cell_rect(self, row: int, column: int) -> QRectF:
        x, y = self.left + column * self.cell, self.top + row * self.cell
        return QRectF(x, y, self.cell, self.cell)

    def zoomed(self, factor: float, at: QPointF) -> "MatrixLayout":
        """Return the layout magnified about a point, no less than the whole map and no more than is
        useful."""
        cell = min(max(self.cell * factor, self.whole), max(LARGEST_CELL, self.whole))
        factor = cell / self.cell
        left = at.x() - factor * (at.x() - self.left)
        top = at.y() - factor * (at.y() - self.top)
        return replace(self, cell=cell, left=left, top=top)._inside()

    def opened(self, readable: float) -> "MatrixLayout":
        """Return the layout in which a map is first shown: as a whole, but of a long strip the
        beginning, with cells so large that its labels can be read, or that its short side fits."""
        rows, columns = self.shape
        cell = min(max(self.area.width() / columns, self.area.height() / rows), readable)
        if cell < _ELONGATED * self.whole:
            return self
        return self.zoomed(cell / self.cell, self.area.topLeft())

    def revealing(self, row: int, column: int) -> "MatrixLayout":
        """Return the layout panned, if zoomed in, until the cell is inside the area."""
        if self.fitted:
            return self
        cell, area = self.cell_rect(row, column), self.area
        dx = max(area.left() - cell.left(), 0) + min(area.right() - cell.right(), 0)
        dy = max(area.top() - cell.top(), 0) + min(area.bottom() - cell.bottom(), 0)
        return self.panned(dx, dy)

    def panned(self, dx: float, dy: float) -> "MatrixLayout":
        return replace(self, left=self.left + dx, top=self.top + dy)._inside()

    def _inside(self) -> "MatrixLayout":
        """Moved so that no part of the area is empty that the map could fill."""
        rows, columns = self.shape
        area = self.area
        left = max(self.left, area.right() - columns * self.cell)
        top = max(self.top, area.bottom() - rows * self.cell)
        return replace(self, left=min(left, area.left()), top=min(top, area.top()))


def hidden_room(font: QFont) -> float:
    """The width of the weight on what is left out."""
    return grown(_HIDDEN_ROOM, font)


def fit_matrix(picture: MatrixPicture, size: QSizeF, font: QFont, ratio: float) -> MatrixLayout:
    """Divide a picture of this size between labels, cells and colour bar.

    `ratio`: device pixels per logical one; cells take whole device pixels unless these are few.
    """
    rows, columns = picture.shape
    row_labels = axes.rows_room(font, picture.rows, picture.predicted)
    column_labels = axes.columns_room(font, picture.columns)
    numbers = axes.numbers_width(font, picture.row_numbers[-1])
    left = math.ceil(MARGIN + numbers + 2 * GRID + min(row_labels, 0.3 * size.width()) + 2 * GRID)
    top = math.ceil(axes.columns_height(font, column_labels) + GRID)
    beside = colorbar.room(font) + 6 * GRID + picture.beside(font)
    right = max(beside, axes.SLANT * column_labels) + MARGIN
    room = QSizeF(size.width() - left - right, size.height() - top - MARGIN)
    room = room.expandedTo(QSizeF(_LEAST, _LEAST))
    cell = min(room.width() / columns, room.height() / rows, LARGEST_FIT)
    if cell * ratio >= 2 * GRID:
        cell = math.floor(cell * ratio) / ratio
    area = QRectF(QPointF(left, top), room)
    return MatrixLayout(picture.shape, area, cell, cell, left, top, column_labels)


def picture_axes(picture: MatrixPicture, layout: MatrixLayout) -> tuple[Axis, Axis]:
    """Return the axes of rows and columns."""
    cell, matrix = layout.cell, layout.matrix
    return (
        Axis(picture.rows, layout.top, cell, matrix.top(), matrix.bottom(), picture.row_numbers),
        Axis(
            picture.columns,
            layout.left,
            cell,
            matrix.left(),
            matrix.right(),
            picture.column_numbers,
        ),
    )


def cell_at(picture: MatrixPicture, layout: MatrixLayout, point: QPointF, font: QFont) -> Cell:
    """The cell under a point; over a label, or what stands at the end of a row, its row or column
    alone."""
    rows, columns = picture_axes(picture, layout)
    row = math.floor((point.y() - rows.origin) / rows.pitch)
    column = math.floor((point.x() - columns.origin) / columns.pitch)
    in_rows = rows.start <= point.y() < rows.end
    if in_rows and columns.start <= point.x() < columns.end:
        return row, column
    if in_rows and point.x() < columns.end + picture.beside(font):
        return row, None
    if point.y() < rows.start:
        return None, axes.column_under(columns, point, rows.start, font)
    return None, None


def matrix_image(
    picture: MatrixPicture, layout: MatrixLayout, style: Style, ratio: float
) -> QImage:
    """The visible cells, at ``ratio`` pixels per logical one."""
    matrix = layout.matrix
    height, width = picture.pyramid.levels[0].shape
    pitch_y = layout.cell * ratio * layout.shape[0] / height
    pitch_x = layout.cell * ratio * layout.shape[1] / width
    above, before = (layout.top - matrix.top()) * ratio, (layout.left - matrix.left()) * ratio
    return cells_image(
        picture.pyramid,
        pixel_cells(height, above, pitch_y, max(1, round(matrix.height() * ratio))),
        pixel_cells(width, before, pitch_x, max(1, round(matrix.width() * ratio))),
        1 / min(pitch_x, pitch_y),
        style.table,
        style.theme,
        ratio,
    )


def paint_matrix(
    painter: QPainter,
    layout: MatrixLayout,
    picture: MatrixPicture,
    style: Style,
    image: QImage,
    height: float,
    focus: Cell = (None, None),
) -> None:
    """A picture of this height: cells, frame, labels with those of `focus` stressed, what stands at
    the ends of the rows, colour bar. `image`: of the cells (`matrix_image`)."""
    matrix = layout.matrix
    painter.drawImage(matrix, image)
    rows, columns = picture_axes(picture, layout)
    font, theme = style.font, style.theme
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(theme.color("border"))
    painter.drawRect(matrix)
    axes.draw_rows(
        painter,
        rows,
        picture.predicted,
        left=MARGIN,
        right=matrix.left() - 2 * GRID,
        font=font,
        theme=theme,
        marked=focus[0],
    )
    axes.draw_columns(
        painter,
        columns,
        bottom=matrix.top(),
        room=layout.column_labels,
        font=font,
        theme=theme,
        marked=focus[1],
    )
    axes.mark_columns(painter, columns, picture.sinks, bottom=matrix.top(), theme=theme)
    left = matrix.right()
    if picture.hidden is not None:
        _draw_hidden(painter, rows, left, picture.hidden, style, focus[0])
        left += hidden_room(font)
    if picture.source is not None:
        share_bars.draw_shares(painter, rows, left, picture.source, theme, font, marked=focus[0])
    left = matrix.right() + picture.beside(font) + 6 * GRID
    colorbar.draw_color_bar(
        painter,
        QRectF(left, matrix.top(), colorbar.room(font), height - matrix.top() - MARGIN),
        style.table,
        theme,
        font,
        legend=picture.legend,
        masked=picture.masked,
    )


def _draw_hidden(
    painter: QPainter,
    rows: Axis,
    left: float,
    hidden: np.ndarray,
    style: Style,
    marked: int | None,
) -> None:
    """The weight that each row has on what is left out, at its end."""
    painter.setFont(scaled_font(style.font, axes.NUMBER_SIZE))
    small, room = QFontMetricsF(painter.font()).height(), hidden_room(style.font)
    centered = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
    painter.setPen(style.theme.color("faint"))
    painter.drawText(QRectF(left, rows.start - small, room, small), centered, "hidden")
    for index in rows.labelled(QFontMetricsF(axes.row_font(style.font, rows)).height(), marked):
        painter.setPen(style.theme.color("accent" if index == marked else "soft"))
        box = QRectF(left, rows.middle(index) - small / 2, room, small)
        painter.drawText(box, centered, f"{hidden[index]:.2f}")
    painter.setFont(style.font)
