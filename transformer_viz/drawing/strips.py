"""A vector as a strip of cells, one per dimension, signed numbers in diverging colours."""

import math

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPaintEngine, QPainter, QPen

from transformer_viz.drawing.diverging import encode_signed
from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.theme import GRID, Theme

HEIGHT = 3 * GRID
_VECTOR_SCALE = 8  # pixels to a point in SVG and PDF, where cells must stay sharp when magnified


def resampled(values: np.ndarray, columns: int) -> np.ndarray:
    """Return [n] values as [columns]: cells side by side or, of more cells than columns, the one of
    the largest magnitude in each column, so that no peak is lost."""
    count = len(values)
    if count <= columns:
        return values[np.arange(columns) * count // columns]
    starts = np.arange(columns) * count // columns
    highest = np.maximum.reduceat(values, starts)
    lowest = np.minimum.reduceat(values, starts)
    return np.where(-lowest > highest, lowest, highest)


def draw_strip(
    painter: QPainter,
    rect: QRectF,
    values: np.ndarray,
    limit: float,
    table: np.ndarray,
    theme: Theme,
    *,
    marked: int | None = None,
) -> None:
    """Draw values [n] into `rect`; the ends of the colours are ±limit.

    Args:
        table: RGBA uint8 [256, 4] by code (`diverging.diverging_table`).
        marked: the dimension to frame.
    """
    columns = max(1, round(rect.width() * _pixels_per_point(painter)))
    codes = encode_signed(resampled(values, columns), limit)  # [columns]
    painter.drawImage(rect, to_image(table[codes][None]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("border"), 1))
    painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))
    if marked is not None:
        frame = cell_rect(rect, marked, len(values)).adjusted(-1, -1, 1, 1)
        pen = QPen(theme.color("ink"), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(frame)


def draw_hatch(painter: QPainter, rect: QRectF, theme: Theme) -> None:
    """Draw a hatch where the mask leaves nothing to draw."""
    ratio = painter.deviceTransform().m11()
    painter.fillRect(rect, hatch_brush(theme, rect.topLeft(), ratio))


def cell_rect(rect: QRectF, dimension: int, count: int) -> QRectF:
    pitch = rect.width() / count
    return QRectF(rect.left() + dimension * pitch, rect.top(), pitch, rect.height())


def dimension_at(rect: QRectF, x: float, count: int) -> int | None:
    """The dimension of `count` whose cell is at x, or None beside the strip."""
    dimension = math.floor((x - rect.left()) / rect.width() * count)
    return dimension if 0 <= dimension < count else None


def _pixels_per_point(painter: QPainter) -> float:
    engine = painter.paintEngine()
    if engine is not None and engine.type() in (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf):
        return _VECTOR_SCALE
    return painter.deviceTransform().m11()
