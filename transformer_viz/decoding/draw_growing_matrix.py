"""The decoder's self-attention as it stands after a step: a row for each token so far.

Row i ends at column i; what would come later is hatched there, and rows that are not computed yet
are left out. Beside each row stands the log-probability of the token that it produced.

T decoder positions.
"""

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing import axes
from transformer_viz.drawing.axes import Axis
from transformer_viz.drawing.cells import cells_image, pixel_cells
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.pooling import Pyramid
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font

LARGEST = 10 * GRID  # of a cell
_NUMBERS = 10 * GRID  # room for the log-probabilities
_BAR_ROOM = 7 * GRID  # before these, for their bars
_SMALL = 0.8  # of the font, where its lines are higher than cells
_FULL_BAR = 3.0  # nats, unless a token has less probability


@dataclass(frozen=True, slots=True, eq=False)
class GrowingPicture:
    """A decoder's map that grows row by row.

    Attributes:
        pyramid: codes, uint8 [T, T], masked above the diagonal.
        fed, predicted: [T], what each row was fed and what it produced.
        log_probabilities: [T], or None where they are not known.
    """

    pyramid: Pyramid
    fed: tuple[Token, ...]
    predicted: tuple[Token, ...]
    log_probabilities: np.ndarray | None
    legend: Legend

    @property
    def steps(self) -> int:
        return len(self.fed)


@dataclass(frozen=True, slots=True)
class GrowingLayout:
    """The places in a growing map; `matrix`: of all T rows, `labels`: the length of column labels
    along their slant, in `font`, `bars`: the room for the bars of the log-probabilities, or 0."""

    matrix: QRectF
    cell: float
    labels: float
    font: QFont
    bars: float

    def row_rect(self, step: int) -> QRectF:
        matrix = self.matrix
        return QRectF(matrix.left(), matrix.top() + step * self.cell, matrix.width(), self.cell)

    def step_at(self, point: QPointF, steps: int) -> int | None:
        """The row at a height, its label and its log-probability included."""
        step = math.floor((point.y() - self.matrix.top()) / self.cell)
        return step if 0 <= step < steps else None


def lay_out_growing(
    picture: GrowingPicture, size: QSizeF, font: QFont, ratio: float
) -> GrowingLayout:
    """Lay out the map; `ratio` is device pixels per logical one, and cells take whole ones unless
    these are few."""
    layout = _lay_out(picture, size, font, ratio)
    if layout.cell >= QFontMetricsF(font).height():
        return layout
    return _lay_out(picture, size, scaled_font(font, _SMALL), ratio)


def _lay_out(picture: GrowingPicture, size: QSizeF, font: QFont, ratio: float) -> GrowingLayout:
    rows = axes.rows_room(font, picture.fed, picture.predicted)
    labels = axes.columns_room(font, picture.fed)
    numbers = axes.numbers_width(font, picture.steps)
    left = math.ceil(numbers + 2 * GRID + min(rows, 0.3 * size.width()) + 2 * GRID)
    top = math.ceil(axes.columns_height(font, labels) + GRID)
    right = 0 if picture.log_probabilities is None else grown(_NUMBERS, font) + 2 * GRID
    width, height = size.width() - left - right, size.height() - top - GRID
    cell = min(max(min(width, height), GRID) / picture.steps, LARGEST)
    if cell * ratio >= 2 * GRID:
        cell = math.floor(cell * ratio) / ratio
    side = cell * picture.steps
    bars = _BAR_ROOM if width - side >= _BAR_ROOM else 0
    return GrowingLayout(QRectF(left, top, side, side), cell, labels, font, bars)


def growing_image(
    picture: GrowingPicture, layout: GrowingLayout, style: Style, ratio: float
) -> QImage:
    """Draw all cells, whatever the step: stepping only shows more or less of the image."""
    pixels = max(1, round(layout.matrix.height() * ratio))
    pitch = layout.cell * ratio
    lines = pixel_cells(picture.steps, 0.0, pitch, pixels)
    return cells_image(picture.pyramid, lines, lines, 1 / pitch, style.table, style.theme, ratio)


def paint_growing(
    painter: QPainter,
    picture: GrowingPicture,
    layout: GrowingLayout,
    image: QImage,
    step: int,
    style: Style,
) -> None:
    """The matrix after `step`."""
    theme, matrix = style.theme, layout.matrix
    done = QRectF(matrix.topLeft(), QSizeF(matrix.width(), (step + 1) * layout.cell))
    rest = QRectF(done.bottomLeft(), matrix.bottomRight())
    share = done.height() / matrix.height()
    source = QRectF(0, 0, image.width(), image.height() * share)
    painter.drawImage(done, image, source)
    painter.fillRect(rest, theme.color("chrome"))
    _draw_pending(painter, rest, style)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("border"), 1))
    painter.drawRect(matrix)
    rows = Axis(picture.fed[: step + 1], matrix.top(), layout.cell, matrix.top(), done.bottom())
    columns_end = matrix.left() + (step + 1) * layout.cell
    columns = Axis(rows.tokens, matrix.left(), layout.cell, matrix.left(), columns_end)
    font = layout.font
    axes.draw_rows(
        painter,
        rows,
        picture.predicted,
        left=0,
        right=matrix.left() - 2 * GRID,
        font=font,
        theme=theme,
        marked=step,
    )
    axes.draw_columns(
        painter,
        columns,
        bottom=matrix.top(),
        room=layout.labels,
        font=font,
        theme=theme,
        marked=step,
    )
    painter.setPen(QPen(theme.color("accent"), 2))
    painter.drawRect(layout.row_rect(step).adjusted(-1, -1, 1, 1))
    if picture.log_probabilities is not None:
        left = matrix.right() + 2 * GRID
        if layout.bars:
            _draw_bars(painter, rows, left, layout.bars, picture.log_probabilities, step, theme)
        left += layout.bars
        _draw_log_probabilities(painter, rows, left, picture.log_probabilities, step, style)


def _draw_pending(painter: QPainter, rest: QRectF, style: Style) -> None:
    """What is not computed yet says so, where there is room."""
    painter.setFont(scaled_font(style.font, 0.85))
    text = "not computed yet"
    metrics = QFontMetricsF(painter.font())
    if rest.height() > 2 * metrics.height() and rest.width() > metrics.horizontalAdvance(text):
        painter.setPen(style.theme.color("faint"))
        painter.drawText(rest, Qt.AlignmentFlag.AlignCenter, text)
    painter.setFont(style.font)


def _draw_bars(
    painter: QPainter,
    rows: Axis,
    left: float,
    room: float,
    values: np.ndarray,
    step: int,
    theme: Theme,
) -> None:
    """A bar to the left for each log-probability."""
    full = max(_FULL_BAR, float(-values.min()))
    thickness = min(2.0 * GRID, max(1.0, rows.pitch - 2))
    zero = left + room
    soft, accent = theme.color("soft"), theme.color("accent")
    for index in rows.visible()[:: max(1, math.floor(1 / rows.pitch))]:
        width = min(1.0, -float(values[index]) / full) * room
        bar = QRectF(zero - width, rows.middle(index) - thickness / 2, width, thickness)
        painter.fillRect(bar, accent if index == step else soft)
    painter.setPen(QPen(theme.color("border"), 1))
    painter.drawLine(QPointF(zero, rows.start), QPointF(zero, rows.end))


def _draw_log_probabilities(
    painter: QPainter, rows: Axis, left: float, values: np.ndarray, step: int, style: Style
) -> None:
    theme = style.theme
    small = scaled_font(style.font, axes.NUMBER_SIZE)
    line = QFontMetricsF(small).height()
    painter.setFont(small)
    painter.setPen(theme.color("faint"))
    room = grown(_NUMBERS, style.font)
    title = QRectF(left, rows.start - line - GRID, room, line)
    painter.drawText(title, Qt.AlignmentFlag.AlignRight, "log p")
    for index in rows.labelled(line, step):
        painter.setPen(theme.color("accent" if index == step else "soft"))
        box = QRectF(left, rows.middle(index) - line / 2, room, line)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight, signed(float(values[index])))
    painter.setFont(style.font)
