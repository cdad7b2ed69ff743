"""A row of swatches with their names, for a picture in a file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from transformer_viz.drawing.theme import GRID, Theme

_MARGIN = 4 * GRID
_SWATCH = 2.5 * GRID
_GAP = 4 * GRID


@dataclass(frozen=True, slots=True)
class Legend:
    entries: Sequence[tuple[QColor, str]]
    font: QFont

    def height(self, width: int) -> int:
        """Return the height in a picture of this width; 0 without entries."""
        places = list(self._places(width))
        return round(places[-1].y() + self._line + GRID) if places else 0

    def draw(self, painter: QPainter, width: int, theme: Theme) -> None:
        """Draw the legend at the painter's origin."""
        painter.setFont(self.font)
        for (color, name), place in zip(self.entries, self._places(width), strict=True):
            top = place.y() + (self._line - _SWATCH) / 2
            painter.fillRect(QRectF(place.x(), top, _SWATCH, _SWATCH), color)
            painter.setPen(theme.color("ink"))
            room = QRectF(place.x() + _SWATCH + GRID, place.y(), width, self._line)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)

    @property
    def _line(self) -> float:
        return QFontMetricsF(self.font).height()

    def _places(self, width: int) -> Iterator[QPointF]:
        """Where each entry begins, line after line."""
        metrics = QFontMetricsF(self.font)
        x, y = float(_MARGIN), 0.0
        for _, name in self.entries:
            needed = _SWATCH + GRID + metrics.horizontalAdvance(name)
            if x > _MARGIN and x + needed > width - _MARGIN:
                x, y = float(_MARGIN), y + self._line + GRID
            yield QPointF(x, y)
            x += needed + _GAP
