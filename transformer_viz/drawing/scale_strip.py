"""The colour bar lying down, for pictures without room beside them; it names its scale too."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.images import to_image
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, scaled_font

_BAR = QSizeF(20 * GRID, 2 * GRID)
_SWATCH = QSizeF(4 * GRID, 3 * GRID)
_HATCHED = "masked: not yet generated"


def scale_strip_width(legend: Legend, font: QFont) -> float:
    metrics = QFontMetricsF(_small(font))
    words = sum(metrics.horizontalAdvance(text) for text in (*_texts(legend), _HATCHED))
    return words + _BAR.width() + _SWATCH.width() + 12 * GRID


def draw_scale_strip(painter: QPainter, rect: QRectF, style: Style, legend: Legend) -> None:
    """Draw, from the left: caption, lowest value, bar, highest value, and what hatching means."""
    theme = style.theme
    painter.setFont(_small(style.font))
    metrics = QFontMetricsF(painter.font())
    caption, lowest, highest = _texts(legend)
    x = rect.left()

    def write(text: str, gap: float) -> None:
        nonlocal x
        width = metrics.horizontalAdvance(text) + 1
        painter.setPen(theme.color("soft"))
        box = QRectF(x, rect.top(), width, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        x += width + gap

    def place(size: QSizeF) -> QRectF:
        nonlocal x
        box = QRectF(QPointF(x, rect.center().y() - size.height() / 2), size)
        x += size.width() + GRID
        return box

    write(caption, 2 * GRID)
    write(lowest, GRID)
    bar = place(_BAR)
    painter.drawImage(bar, to_image(np.ascontiguousarray(style.table[None, 1:])))
    write(highest, 4 * GRID)
    swatch = place(_SWATCH)
    ratio = painter.device().devicePixelRatioF()
    painter.fillRect(swatch, hatch_brush(theme, swatch.topLeft(), ratio))
    write(_HATCHED, 0)
    painter.setPen(QPen(theme.color("border"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for box in (bar, swatch):
        painter.drawRect(box)


def _small(font: QFont) -> QFont:
    return scaled_font(font, 0.85)


def _texts(legend: Legend) -> tuple[str, str, str]:
    """Caption, and the texts at the lower and the upper end of the bar."""
    ticks = sorted(legend.ticks)
    return ", ".join(legend.caption), ticks[0][1], ticks[-1][1]
