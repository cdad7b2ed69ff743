"""The colour bar, which always names its scale."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QFontMetricsF, QPainter

from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font

WIDTH = 3 * GRID
MOST = 60 * GRID
_ROOM = 25 * GRID


def room(font: QFont) -> float:
    """The width of bar, ticks and caption."""
    return grown(_ROOM, font)


def draw_color_bar(
    painter: QPainter,
    rect: QRectF,
    table: np.ndarray,
    theme: Theme,
    font: QFont,
    *,
    legend: Legend,
    masked: bool,
) -> None:
    """A vertical bar from level 1 to 0 with ticks and caption in `rect`; `masked` adds the hatch,
    a threshold what is left blank.

    `table`: RGBA uint8 [256, 4] by code (`colormap.lookup_table`).
    """
    painter.save()
    painter.setFont(scaled_font(font, 0.85))
    line = QFontMetricsF(painter.font()).height()
    swatches: list[tuple[QBrush | None, str]] = []
    if legend.threshold > 0:
        swatches.append((None, f"below {legend.threshold:g}"))
    if masked:
        ratio = painter.device().devicePixelRatioF()
        swatches.append((hatch_brush(theme, rect.topLeft(), ratio), legend.hatched))
    below = (len(legend.caption) + 1.5 * len(swatches)) * line
    height = min(MOST, rect.height() - below - 3 * GRID)
    top = rect.top()
    if height >= 4 * line:
        bar = QRectF(rect.left(), top, WIDTH, height)
        _draw_bar(painter, bar, table, theme, legend, line)
        top = bar.bottom() + 2 * GRID + line / 2
    painter.setPen(theme.color("soft"))
    width = room(font)
    for text in legend.caption:
        painter.drawText(QRectF(rect.left(), top, width, line), Qt.AlignmentFlag.AlignLeft, text)
        top += line
    for brush, text in swatches:
        top += line / 2
        _draw_swatch(painter, QPointF(rect.left(), top), brush, text, theme)
        top += line
    painter.restore()


def _draw_bar(
    painter: QPainter, bar: QRectF, table: np.ndarray, theme: Theme, legend: Legend, line: float
) -> None:
    painter.drawImage(bar, to_image(table[:0:-1, None]))
    blank = bar.adjusted(0, (1 - legend.blank) * bar.height(), 0, 0)
    painter.fillRect(blank, theme.color("paper"))
    painter.setPen(theme.color("border"))
    painter.drawRect(bar)
    painter.setPen(theme.color("soft"))
    for level, text in legend.ticks:
        y = bar.bottom() - level * bar.height()
        painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + GRID, y))
        box = QRectF(bar.right() + 2 * GRID, y - line / 2, room(painter.font()), line)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)


def _draw_swatch(
    painter: QPainter, corner: QPointF, brush: QBrush | None, text: str, theme: Theme
) -> None:
    swatch = QRectF(corner.x(), corner.y(), WIDTH, WIDTH)
    painter.fillRect(swatch, brush or QBrush(theme.color("paper")))
    painter.setPen(theme.color("border"))
    painter.drawRect(swatch)
    painter.setPen(theme.color("soft"))
    box = QRectF(swatch.right() + 2 * GRID, corner.y(), room(painter.font()), WIDTH)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
