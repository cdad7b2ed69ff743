"""Marks on a map: the cell in focus and the pinned ones."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from transformer_viz.drawing.matrix import MatrixLayout
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.selection import Cell

_PINNED = 0.6  # opacity


@dataclass(frozen=True, slots=True)
class Marks:
    """The marked cells; `focus`: the cell to explain, `pins`: the pinned ones, the current one
    last."""

    focus: Cell = (None, None)
    pins: tuple[Cell, ...] = ()


def draw_marks(painter: QPainter, layout: MatrixLayout, marks: Marks, theme: Theme) -> None:
    """Draw cross hairs through the focus and, fainter, the current pin, and frames around other
    pins."""
    painter.save()
    painter.setClipRect(layout.matrix.adjusted(-2, -2, 2, 2))
    for pin in marks.pins[:-1]:
        _draw_mark(painter, layout, pin, theme, _PINNED, cross=None in pin)
    for pin in marks.pins[-1:]:
        if pin != marks.focus:
            _draw_mark(painter, layout, pin, theme, _PINNED, cross=True)
    _draw_mark(painter, layout, marks.focus, theme, 1.0, cross=True)
    painter.restore()


def _draw_mark(
    painter: QPainter,
    layout: MatrixLayout,
    mark: Cell,
    theme: Theme,
    opacity: float,
    *,
    cross: bool,
) -> None:
    """Frame a row, a column and where they meet, readable on every colour of the map."""
    row, column = mark
    matrix = layout.matrix
    accent = theme.color("accent")
    accent.setAlphaF(opacity)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(accent, 1))
    if cross and row is not None:
        cell = layout.cell_rect(row, 0)
        painter.drawRect(QRectF(matrix.left(), cell.top(), matrix.width(), cell.height()))
    if cross and column is not None:
        cell = layout.cell_rect(0, column)
        painter.drawRect(QRectF(cell.left(), matrix.top(), cell.width(), matrix.height()))
    if row is not None and column is not None:
        _draw_cell_frame(painter, layout.cell_rect(row, column), theme, accent)


def _draw_cell_frame(painter: QPainter, rect: QRectF, theme: Theme, accent: QColor) -> None:
    smallest = QRectF(rect.center() - QPointF(GRID, GRID), QSizeF(2 * GRID, 2 * GRID))
    rect = rect.united(smallest)  # findable where cells are smaller than a pixel
    halo = theme.color("paper")
    halo.setAlphaF(accent.alphaF())
    painter.setPen(QPen(halo, 4))
    painter.drawRect(rect)
    painter.setPen(QPen(accent, 2))
    painter.drawRect(rect)
