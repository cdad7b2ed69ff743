"""At the ends of the rows of a decoder's map: how much of each comes from the source.

Legend: R rows.
"""

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from transformer_viz.drawing.axes import NUMBER_SIZE, Axis, row_font
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, Theme, grown, scaled_font

_ROOM = 21 * GRID
BAR = 10 * GRID
_GAP = 2 * GRID
_THICKEST = 3 * GRID


def room(font: QFont) -> float:
    """The width of bar and number."""
    return grown(_ROOM, font)


def bar_rect(rows: Axis, left: float, row: int) -> QRectF:
    """Return the rectangle of a row's bar, beside cells that end at `left`: source and prefix
    together."""
    thickness = min(_THICKEST, max(1.0, rows.pitch - 2))
    return QRectF(left + _GAP, rows.middle(row) - thickness / 2, BAR, thickness)


def draw_shares(
    painter: QPainter,
    rows: Axis,
    left: float,
    shares: np.ndarray,
    theme: Theme,
    font: QFont,
    *,
    marked: int | None,
) -> None:
    """A bar for each visible row, filled as far as the source goes, the rest being the target
    prefix; and the source's per cent beside those that have labels. `shares`: [R], in 0 … 1."""
    for row in rows.visible():
        bar = bar_rect(rows, left, row)
        painter.fillRect(bar, theme.color("chip"))
        bar.setWidth(BAR * float(shares[row]))
        painter.fillRect(bar, theme.color("accent"))
    small = scaled_font(font, NUMBER_SIZE)
    line = QFontMetricsF(small).height()
    begin, middle = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignVCenter
    painter.setFont(small)
    painter.setPen(theme.color("accent"))
    heading = QRectF(left + _GAP, rows.start - line, room(font) - _GAP, line)
    painter.drawText(heading, begin | middle, "source")
    beside = left + _GAP + BAR + GRID
    for row in rows.labelled(QFontMetricsF(row_font(font, rows)).height(), marked):
        painter.setPen(theme.color("accent" if row == marked else "soft"))
        number = QRectF(beside, rows.middle(row) - line / 2, left + room(font) - beside, line)
        painter.drawText(number, begin | middle, percent(float(shares[row])))
    painter.setFont(font)
