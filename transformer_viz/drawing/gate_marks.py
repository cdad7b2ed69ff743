"""How a picture of a head shows that its output does not count, or counts otherwise."""

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.heads import EVEN, Gate
from transformer_viz.drawing.theme import GRID, Theme, caption_font

_VEIL = 0.7  # opacity
_HEIGHT = 3 * GRID


def draw_gate(painter: QPainter, tile: QRectF, gate: Gate, theme: Theme, font: QFont) -> None:
    """A veil and a stroke over the head that is off; in a corner, the factor of one that is scaled
    or the word "even", or a stroke below it where that has no room."""
    painter.save()
    if gate == 0:
        veil = theme.color("paper")
        veil.setAlphaF(_VEIL)
        painter.fillRect(tile, veil)
        painter.setPen(QPen(theme.color("warning"), 2, c=Qt.PenCapStyle.FlatCap))
        painter.drawLine(QLineF(tile.bottomLeft(), tile.topRight()))
    else:
        _draw_text(painter, tile, gate_text(gate), theme, caption_font(font))
    painter.restore()


def gate_text(gate: Gate) -> str:
    """Format a gate, for example "×0.5" or "even"."""
    return gate if gate == EVEN else f"×{gate:.2f}".rstrip("0").rstrip(".")


def _draw_text(painter: QPainter, tile: QRectF, text: str, theme: Theme, font: QFont) -> None:
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
