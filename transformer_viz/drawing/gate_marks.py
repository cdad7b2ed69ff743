"""How a picture of a head shows that its output does not count, or counts otherwise."""

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from transformer_viz.drawing.theme import GRID, Theme, caption_font

_VEIL = 0.7  # opacity
_HEIGHT = 3 * GRID


def draw_gate(painter: QPainter, tile: QRectF, factor: float, theme: Theme, font: QFont) -> None:
    """A veil and a stroke over the head that is off; the factor in a corner of one that is
    scaled, or a stroke below it where that has no room."""
    painter.save()
    if factor == 0:
        veil = theme.color("paper")
        veil.setAlphaF(_VEIL)
        painter.fillRect(tile, veil)
        painter.setPen(QPen(theme.color("warning"), 2, c=Qt.PenCapStyle.FlatCap))
        painter.drawLine(QLineF(tile.bottomLeft(), tile.topRight()))
    else:
        _draw_factor(painter, tile, gate_text(factor), theme, caption_font(font))
    painter.restore()


def gate_text(factor: float) -> str:
    """Format a factor, for example "×0.5"."""
    return f"×{factor:.2f}".rstrip("0").rstrip(".")


def _draw_factor(painter: QPainter, tile: QRectF, text: str, theme: Theme, font: QFont) -> None:
    width = QFontMetricsF(font).horizontalAdvance(text) + 2 * GRID
    if width > tile.width() or tile.height() < _HEIGHT:
        painter.setPen(QPen(theme.color("warning"), 2))
        painter.drawLine(QLineF(tile.bottomLeft(), tile.bottomRight()))
        return
    box = QRectF(tile.right() - width, tile.bottom() - _HEIGHT, width, _HEIGHT)
    painter.fillRect(box, theme.color("warning"))
    painter.setPen(theme.color("paper"))
    painter.setFont(font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
