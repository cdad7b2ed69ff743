"""The legend above a plot, which reads off the values of its lines."""

from __future__ import annotations

import math

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from transformer_viz.drawing.lines import Line
from transformer_viz.drawing.theme import GRID, LIGHT, Theme

_SWATCH = 6 * GRID
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PlotLegend(pg.GraphicsWidget):
    """The names of the lines in as few rows as they take, with the values at the x read off."""

    def __init__(self, left: float) -> None:
        """`left`: where it begins, in pixels."""
        super().__init__()
        self._left = left
        self._lines: tuple[Line, ...] = ()
        self._x: float | None = None
        self._theme: Theme = LIGHT
        self._font = QFont()

    def show_lines(self, lines: tuple[Line, ...], theme: Theme, font: QFont) -> None:
        """Name these lines in place of those before."""
        self._lines, self._theme, self._font = lines, theme, font
        self._fit()

    def read_off(self, x: float | None) -> None:
        """Give the values at `x` behind the names; None for the names alone."""
        self._x = x
        self.update()

    def resizeEvent(self, event: object) -> None:
        self._fit()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font)
        metrics, theme = QFontMetricsF(self._font), self._theme
        columns = self._columns()
        width = (self.size().width() - self._left) / columns
        for index, line in enumerate(self._lines):
            left = self._left + index % columns * width
            top = index // columns * self._pitch()
            middle = top + metrics.height() / 2
            if not line.scattered:
                painter.setPen(line_pen(line, theme))
                painter.drawLine(QPointF(left, middle), QPointF(left + _SWATCH, middle))
            if line.dots:
                painter.setPen(QPen(line.shade(theme), 1.5))
                painter.setBrush(theme.color("paper"))
                painter.drawEllipse(QPointF(left + _SWATCH / 2, middle), 3, 3)
                painter.setBrush(Qt.BrushStyle.NoBrush)
            text = line.label if self._x is None else f"{line.label}: {line.reading(self._x)}"
            box = QRectF(
                left + _SWATCH + 2 * GRID, top, width - _SWATCH - 3 * GRID, metrics.height()
            )
            painter.setPen(theme.color("ink"))
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
            painter.drawText(box, _LEFT, elided)

    def _fit(self) -> None:
        rows = math.ceil(len(self._lines) / self._columns())
        height = rows * self._pitch() + 2 * GRID if self._lines else 0.0
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)
        self.update()

    def _columns(self) -> int:
        metrics = QFontMetricsF(self._font)
        widest = max(
            (metrics.horizontalAdvance(f"{line.label}: 88.888 at 888,888") for line in self._lines),
            default=1.0,
        )
        room = int(self.size().width() / (_SWATCH + 6 * GRID + widest))
        return max(1, min(len(self._lines), room))

    def _pitch(self) -> float:
        return QFontMetricsF(self._font).height() + GRID


def line_pen(line: Line, theme: Theme) -> QPen:
    """Return the pen of a line, in the plot and in its legend."""
    style = Qt.PenStyle.DashLine if line.dashed else Qt.PenStyle.SolidLine
    return pg.mkPen(line.shade(theme), width=2, style=style)
