"""What stands above a picture in a file: its title, and what has to be said about it."""

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter

from transformer_viz.drawing.theme import GRID, Theme, scaled_font

_MARGIN = 4 * GRID
_WRAPPED = int(Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True, slots=True)
class Heading:
    title: str
    notes: str
    font: QFont

    def height(self, width: int) -> int:
        """Return the height in a picture of this width, with the space around it."""
        room = QRect(0, 0, width - 2 * _MARGIN, 1 << 16)
        notes = QFontMetrics(self.font).boundingRect(room, _WRAPPED, self.notes)
        return QFontMetrics(self._title_font).height() + notes.height() + 5 * GRID

    def draw(self, painter: QPainter, width: int, theme: Theme) -> None:
        """Draw the heading at the painter's origin."""
        painter.save()
        painter.setFont(self._title_font)
        line = QFontMetrics(self._title_font).height()
        room = QRect(_MARGIN, 2 * GRID, width - 2 * _MARGIN, 1 << 16)
        painter.setPen(theme.color("ink"))
        painter.drawText(room, 0, self.title)
        painter.setFont(self.font)
        painter.setPen(theme.color("soft"))
        painter.drawText(room.adjusted(0, line + GRID, 0, 0), _WRAPPED, self.notes)
        painter.restore()

    @property
    def _title_font(self) -> QFont:
        return scaled_font(self.font, 1.15, bold=True)
