"""The colour bar, which always names its scale."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from transformer_viz.drawing.hatch import hatch_brush
from transformer_viz.drawing.images import to_image
from transformer_viz.theme import GRID, Theme, scaled_font

WIDTH = 3 * GRID
ROOM = 24 * GRID  # bar, ticks and caption
MOST = 60 * GRID
_CAPTION = ("weight", "absolute 0–1")


def draw_color_bar(
    painter: QPainter,
    rect: QRectF,
    table: np.ndarray,
    theme: Theme,
    font: QFont,
    *,
    masked: bool,
) -> None:
    """A vertical bar from 1 to 0 with ticks and caption in `rect`; `masked` adds the hatch.

    `table`: RGBA uint8 [256, 4] by code (`colormap.lookup_table`).
    """
    small = scaled_font(font, 0.85)
    line = QFontMetricsF(small).height()
    lines = len(_CAPTION) + (1.5 if masked else 0)
    height = min(MOST, rect.height() - lines * line - 3 * GRID)
    painter.setFont(small)
    if height >= 4 * line:
        bar = QRectF(rect.left(), rect.top(), WIDTH, height)
        painter.drawImage(bar, to_image(table[:0:-1, None]))
        painter.setPen(theme.color("border"))
        painter.drawRect(bar)
        painter.setPen(theme.color("soft"))
        for value, text in ((1.0, "1"), (0.5, "0.5"), (0.0, "0")):
            y = bar.bottom() - value * height
            painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + GRID, y))
            box = QRectF(bar.right() + 2 * GRID, y - line / 2, ROOM, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        top = bar.bottom() + 2 * GRID + line / 2
    else:
        top = rect.top()
    painter.setPen(theme.color("soft"))
    for text in _CAPTION:
        painter.drawText(QRectF(rect.left(), top, ROOM, line), Qt.AlignmentFlag.AlignLeft, text)
        top += line
    if masked:
        top += line / 2
        swatch = QRectF(rect.left(), top, WIDTH, WIDTH)
        ratio = painter.device().devicePixelRatioF()
        painter.fillRect(swatch, hatch_brush(theme, swatch.topLeft(), ratio))
        painter.setPen(theme.color("border"))
        painter.drawRect(swatch)
        painter.setPen(theme.color("soft"))
        box = QRectF(swatch.right() + 2 * GRID, top, ROOM, WIDTH)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, "masked")
