"""Random queries and keys of one width: how far q · k spreads, and what softmax makes of it.

Legend: K keys of the one row.
"""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QPolygonF

from core.trace.row_steps import RowSteps
from core.trace.score_spread import ScoreSpread, sample_spread, softmax_gradient
from transformer_viz.drawing.axis import AxisScale, tick_texts, ticks
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture

_BINS = 48
_DEVIATIONS = 4.0  # of q · k, to each side
_NARROW = 150 * GRID  # below it, the bars stand under the histogram
_Center = Qt.AlignmentFlag.AlignCenter
_Caption = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


def row_in_words(row: RowSteps) -> str:
    """Return a row's entropy and the size of its softmax's gradient."""
    return (
        f"entropy {row.entropy:.2f} of {math.log2(len(row.weights)):.2f} bits, "
        f"gradient {softmax_gradient(row.weights):.3f}"
    )


class SpreadCanvas(Picture):
    """A histogram of q · k beside one row's weights, with and without the division by √d_k."""

    def __init__(self) -> None:
        super().__init__("Random queries and keys")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.show_sample(64, 0)

    def minimumSizeHint(self) -> QSize:
        return QSize(100 * GRID, 56 * GRID)

    def show_sample(self, d_k: int, seed: int) -> None:
        """Draw queries and keys anew from N(0, 1); a seed repeats its sample."""
        self.d_k = d_k
        self.spread: ScoreSpread = sample_spread(d_k, seed)
        announce(self, " ".join(self.statements()))
        self.update()

    def statements(self) -> tuple[str, ...]:
        """What the sample shows, in words and numbers."""
        spread = self.spread
        return (
            f"d_k = {self.d_k}: q · k of {len(spread.sums):,} random pairs has standard deviation "
            f"{spread.sums.std():.2f}; √d_k = {math.sqrt(self.d_k):.2f}.",
            f"Divided by √d_k: {row_in_words(spread.scaled)}.",
            f"Not divided: {row_in_words(spread.unscaled)}.",
        )

    def frame(self) -> QRectF | None:
        return None

    # Painting

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QFontMetricsF(scaled_font(self.font(), 0.85)).height()
        area = QRectF(self.rect()).adjusted(2 * GRID, 2 * GRID, -2 * GRID, -2 * GRID)
        if area.width() < _NARROW:
            parts = [_band(area, share / 3, 1 / 3) for share in range(3)]
        else:
            left = QRectF(area.topLeft(), QPointF(area.center().x() - 4 * GRID, area.bottom()))
            right = QRectF(QPointF(area.center().x() + 4 * GRID, area.top()), area.bottomRight())
            parts = [left, _band(right, 0, 0.5), _band(right, 0.5, 0.5)]
        self._paint_histogram(painter, parts[0].adjusted(0, 3 * line, 0, -3.5 * line))
        for part, title, row in (
            (parts[1], "softmax(q · k / √d_k)", self.spread.scaled),
            (parts[2], "softmax(q · k)", self.spread.unscaled),
        ):
            self._paint_weights(painter, part.adjusted(0, 3 * line, 0, -2 * line), title, row)

    def _paint_title(self, painter: QPainter, plot: QRectF, title: str, below: str) -> None:
        line = QFontMetricsF(scaled_font(self.font(), 0.85)).height()
        painter.setPen(self.theme.color("ink"))
        painter.setFont(scaled_font(self.font(), 1.0, bold=True))
        painter.drawText(plot.topLeft() - QPointF(0, 1.7 * line), title)
        painter.setPen(self.theme.color("soft"))
        painter.setFont(scaled_font(self.font(), 0.85))
        painter.drawText(plot.topLeft() - QPointF(0, 0.5 * line), below)

    def _paint_histogram(self, painter: QPainter, plot: QRectF) -> None:
        theme, root = self.theme, math.sqrt(self.d_k)
        far = _DEVIATIONS * root
        told = f"deviation {self.spread.sums.std():.2f}, √d_k = {root:.2f}"
        title = f"q · k of {len(self.spread.sums):,} random pairs"
        self._paint_title(painter, plot, title, told)
        counts, edges = np.histogram(self.spread.sums, _BINS, (-far, far))
        painter.setPen(Qt.PenStyle.NoPen)
        color = theme.color("accent")
        color.setAlphaF(0.45)
        painter.setBrush(color)
        # The curve's peak is where the expected count of a bin is highest.
        peak = len(self.spread.sums) * (edges[1] - edges[0]) / (root * math.sqrt(2 * math.pi))
        scale = plot.height() / (1.15 * max(peak, float(counts.max())))
        width = plot.width() / _BINS
        for number, count in enumerate(counts):
            height = float(count) * scale
            left = plot.left() + number * width
            painter.drawRect(QRectF(left + 0.5, plot.bottom() - height, width - 1, height))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.drawPolyline(_bell(plot, far, root, peak * scale))
        painter.setPen(QPen(theme.color("ink"), 1.5, Qt.PenStyle.DashLine))
        painter.drawPolyline(_bell(plot, far, 1.0, peak * scale))
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        small = scaled_font(self.font(), 0.85)
        line = QFontMetricsF(small).height()
        painter.setFont(small)
        painter.setPen(theme.color("soft"))
        marks = ticks(-far, far, AxisScale.LINEAR, max(3, int(plot.width() / (12 * GRID))))
        for value, text in zip(marks, tick_texts(marks), strict=True):
            x = plot.left() + plot.width() * (value + far) / (2 * far)
            painter.drawText(QRectF(x - 50, plot.bottom() + GRID / 2, 100, line), _Center, text)
        caption = "line: N(0, d_k); dashed: N(0, 1), the scores after ÷ √d_k"
        below = QRectF(plot.left(), plot.bottom() + line + GRID, plot.width(), 2.2 * line)
        painter.drawText(below, _Caption, caption)

    def _paint_weights(self, painter: QPainter, plot: QRectF, title: str, row: RowSteps) -> None:
        self._paint_title(painter, plot, title, row_in_words(row))
        theme, small = self.theme, scaled_font(self.font(), 0.85)
        line = QFontMetricsF(small).height()
        pitch = plot.width() / len(row.weights)
        full = plot.height() - line
        painter.setFont(small)
        for number, weight in enumerate(row.weights):
            left = plot.left() + number * pitch
            height = full * float(weight)
            bar = QRectF(left + 0.15 * pitch, plot.bottom() - height, 0.7 * pitch, height)
            painter.fillRect(bar, theme.color("accent"))
            above = QRectF(left, bar.top() - line, pitch, line)
            painter.setPen(theme.color("ink"))
            painter.drawText(above, _Center, f"{weight:.2f}")
            painter.setPen(theme.color("soft"))
            below = QRectF(left, plot.bottom() + GRID / 2, pitch, line)
            painter.drawText(below, _Center, f"key {number + 1}")
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())


def _band(area: QRectF, start: float, share: float) -> QRectF:
    """A part of an area's height, over its whole width."""
    height = area.height()
    return QRectF(area.left(), area.top() + start * height, area.width(), share * height)


def _bell(plot: QRectF, far: float, deviation: float, height: float) -> QPolygonF:
    """The normal curve with its peak at `height` pixels, over scores from −far to far."""
    scores = np.linspace(-far, far, 241)
    heights = height * np.exp(-0.5 * (scores / deviation) ** 2)
    across = plot.left() + plot.width() * (scores + far) / (2 * far)
    return QPolygonF([QPointF(x, plot.bottom() - y) for x, y in zip(across, heights, strict=True)])
