"""Weight by distance as bars: large for the selected heads, small for every head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.trace.trace import Head
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

MARGIN = 4 * GRID
_WIDEST_CELL = 36 * GRID
_NUMBERS = 5 * GRID  # room for the numbers of layers
_HALF = 0.5
_DISTANCE = ("distance |i − j| in tokens →", "distance →")
_Center = Qt.AlignmentFlag.AlignCenter

Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histograms:
    """Weight by distance, of the chosen heads and of each head.

    Attributes:
        bins: the distances of each bar.
        chosen: [bars], the weight of the selected heads in each.
        even: [bars], of a head that spreads evenly.
        heads: the bars of every head.
        selected: which of them are.
    """

    bins: tuple[range, ...]
    chosen: Shares
    even: Shares
    heads: Mapping[Head, Shares]
    selected: frozenset[Head]

    @cached_property
    def top(self) -> float:
        """The weight at the full height of every bar."""
        most = max(float(bars.max()) for bars in (self.even, self.chosen, *self.heads.values()))
        return max(0.1, most)


@dataclass(frozen=True, slots=True, eq=False)
class HistogramsLayout:
    """The places of the bars; `large`: the room of the large ones, `cells`: that of each head's."""

    large: QRectF
    cells: Mapping[Head, QRectF]

    def head_at(self, point: QPointF) -> Head | None:
        return next((head for head, cell in self.cells.items() if cell.contains(point)), None)


def bin_name(one: range) -> str:
    return f"{one.start}–{one.stop - 1}" if len(one) > 1 else f"{one.start}"


def lay_out_histograms(rect: QRectF, heads: Sequence[Head], font: QFont) -> HistogramsLayout:
    """The large one above, a row for each layer below."""
    line = QFontMetricsF(scaled_font(font, 0.85)).height()
    layers = sorted({head.layer for head in heads})
    most = max((head.head for head in heads), default=0) + 1
    inner = rect.adjusted(MARGIN, 0, -MARGIN, -GRID)
    large = QRectF(inner.left(), inner.top(), inner.width(), 0.45 * inner.height())
    top = large.bottom() + 2 * line + 3 * GRID
    width = min((inner.width() - _NUMBERS) / most, float(_WIDEST_CELL))
    height = max((inner.bottom() - top) / max(1, len(layers)), 4.0 * GRID)
    cells = {
        head: QRectF(
            inner.left() + _NUMBERS + head.head * width,
            top + layers.index(head.layer) * height,
            width - GRID,
            height - GRID,
        )
        for head in heads
    }
    return HistogramsLayout(large, cells)


def draw_histograms(
    painter: QPainter, shown: Histograms, layout: HistogramsLayout, theme: Theme, font: QFont
) -> None:
    painter.save()
    _draw_large(painter, shown, layout.large, theme, font)
    small = scaled_font(font, 0.85)
    painter.setFont(small)
    line = QFontMetricsF(small).height()
    painter.setPen(theme.color("soft"))
    first = min((cell.top() for cell in layout.cells.values()), default=layout.large.bottom())
    title = QRectF(layout.large.left(), first - 2 * line - GRID, layout.large.width(), line)
    text = "every head of this kind · rows: layers, columns: heads"
    painter.drawText(title, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.setPen(theme.color("faint"))
    for head, cell in layout.cells.items():
        if cell.top() == first:
            box = QRectF(cell.left(), first - line - 1, cell.width(), line)
            painter.drawText(box, _Center, str(head.head + 1))
        if head.head == 0:
            box = QRectF(layout.large.left(), cell.top(), _NUMBERS - 2 * GRID, cell.height())
            painter.drawText(box, _Center, str(head.layer + 1))
    for head, cell in layout.cells.items():
        if head in shown.heads:
            _draw_small(painter, shown, head, cell, theme)
    painter.restore()


def _draw_large(
    painter: QPainter, shown: Histograms, rect: QRectF, theme: Theme, font: QFont
) -> None:
    """Bars with their weight in per cent above and their distances below; a line across each at
    the even spread."""
    small = scaled_font(font, 0.85)
    metrics = QFontMetricsF(small)
    line = metrics.height()
    plot = rect.adjusted(0, line + GRID, 0, -2 * line - GRID)
    pitch = plot.width() / len(shown.bins)
    width = max(2.0, pitch - 2 * GRID)
    painter.setFont(small)
    for number, (one, weight, even) in enumerate(
        zip(shown.bins, shown.chosen.tolist(), shown.even.tolist(), strict=True)
    ):
        left = plot.left() + number * pitch + (pitch - width) / 2
        height = plot.height() * weight / shown.top
        bar = QRectF(left, plot.bottom() - height, width, height)
        painter.fillRect(bar, theme.color("accent"))
        painter.setPen(theme.color("ink"))
        above = QRectF(left - GRID, bar.top() - line - 1, width + 2 * GRID, line)
        level = plot.bottom() - plot.height() * even / shown.top
        if above.top() <= level <= above.bottom():  # the line would cross the number
            above.moveBottom(min(level, bar.top()) - 1)
        painter.drawText(above, _Center, percent(weight))
        painter.setPen(QPen(theme.color("warning"), 2))
        painter.drawLine(QPointF(left - GRID / 2, level), QPointF(left + width + GRID / 2, level))
        painter.setPen(theme.color("soft"))
        below = QRectF(left - GRID, plot.bottom() + GRID, width + 2 * GRID, line)
        painter.drawText(below, _Center, bin_name(one))
    painter.setPen(QPen(theme.color("border"), 1))
    painter.drawLine(plot.bottomLeft(), plot.bottomRight())
    painter.setPen(theme.color("soft"))
    names = QRectF(plot.left(), plot.bottom() + GRID + line, plot.width(), line)
    advance = metrics.horizontalAdvance
    weight_name = "mean weight over the queries; "
    taken = advance(weight_name) + 6 * GRID + advance("uniform attention")
    fitting = (text for text in _DISTANCE if taken + 2 * GRID + advance(text) <= plot.width())
    painter.drawText(names, Qt.AlignmentFlag.AlignRight, next(fitting, ""))
    painter.drawText(names, Qt.AlignmentFlag.AlignLeft, weight_name)
    left = plot.left() + advance(weight_name) + GRID
    middle = names.top() + line / 2
    painter.setPen(QPen(theme.color("warning"), 2))
    painter.drawLine(QPointF(left, middle), QPointF(left + 4 * GRID, middle))
    painter.setPen(theme.color("soft"))
    names.setLeft(left + 5 * GRID)
    painter.drawText(names, Qt.AlignmentFlag.AlignLeft, "uniform attention")


def _draw_small(
    painter: QPainter, shown: Histograms, head: Head, cell: QRectF, theme: Theme
) -> None:
    selected = head in shown.selected
    painter.setPen(QPen(theme.color("accent" if selected else "line"), 2 if selected else 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(cell.adjusted(_HALF, _HALF, -_HALF, -_HALF))
    plot = cell.adjusted(2, 3, -2, -2)
    pitch = plot.width() / len(shown.bins)
    color = theme.color("accent" if selected else "soft")
    for number, weight in enumerate(shown.heads[head].tolist()):
        height = plot.height() * weight / shown.top
        left = plot.left() + number * pitch
        painter.fillRect(QRectF(left, plot.bottom() - height, pitch - 1, height), color)
