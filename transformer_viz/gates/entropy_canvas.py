"""The entropy of every head before and after a change to the model, as points of a plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip

from core.trace.trace import AttentionKind, Head
from transformer_viz.drawing.axis import AxisScale, tick_texts, ticks
from transformer_viz.drawing.theme import GRID, scaled_font
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture
from transformer_viz.words.titles import TITLES
from transformer_viz.words.wording import head_name, plain_tooltip

_RADIUS = 4.0
_NEAR = 3 * GRID
_Center = Qt.AlignmentFlag.AlignCenter
_MOVES = {
    **dict.fromkeys((Qt.Key.Key_Left, Qt.Key.Key_Up), -1),
    **dict.fromkeys((Qt.Key.Key_Right, Qt.Key.Key_Down), 1),
}


class Bits(NamedTuple):
    """The mean entropy of a head's rows, in bits."""

    before: float
    now: float


@dataclass(frozen=True, slots=True, eq=False)
class HeadEntropies:
    """The entropy of every head, on the same tokens before and now.

    Attributes:
        limits: of each kind, that of uniform attention, in bits.
    """

    heads: Mapping[Head, Bits] = field(default_factory=dict)
    limits: Mapping[AttentionKind, float] = field(default_factory=dict)

    def mean(self, kind: AttentionKind) -> Bits:
        """The mean over the heads of a kind that is there."""
        found = [bits for head, bits in self.heads.items() if head.kind is kind]
        count = len(found)
        return Bits(sum(one.before for one in found) / count, sum(one.now for one in found) / count)


def bits_in_words(bits: Bits) -> str:
    """Format a change: "2.10 → 0.63 bits"."""
    return f"{bits.before:.2f} → {bits.now:.2f} bits"


class EntropyCanvas(Picture):
    """A panel for each kind of attention: a point below the diagonal is a head that became sharper.

    A click or the arrow keys choose a head.
    """

    headChosen = Signal(object)  # Head

    def __init__(self) -> None:
        super().__init__("Entropy of every head, before and now")
        self.shown = HeadEntropies()
        self._selected: Head | None = None

    def minimumSizeHint(self) -> QSize:
        return QSize(100 * GRID, 56 * GRID)

    def show_entropies(self, shown: HeadEntropies, selected: Head) -> None:
        self.shown, self._selected = shown, selected
        said = [f"{TITLES[kind]}: mean {bits_in_words(shown.mean(kind))}" for kind in shown.limits]
        if selected in shown.heads:
            said.insert(0, f"{head_name(selected)}: {bits_in_words(shown.heads[selected])}")
        announce(self, ". ".join(said))
        self.update()

    def point_of(self, head: Head) -> QPointF:
        """Where the point of a head is."""
        plot, limit = self._plots()[head.kind], self._limit(head.kind)
        bits = self.shown.heads[head]
        return QPointF(
            plot.left() + plot.width() * bits.before / limit,
            plot.bottom() - plot.height() * bits.now / limit,
        )

    def _limit(self, kind: AttentionKind) -> float:
        return max(self.shown.limits[kind], 1e-6)

    def _plots(self) -> dict[AttentionKind, QRectF]:
        """The square of each kind, side by side."""
        metrics = QFontMetricsF(scaled_font(self.font(), 0.85))
        line = metrics.height()
        left, below = metrics.horizontalAdvance("0.0") + line + 3 * GRID, 2 * line + 2 * GRID
        count = max(1, len(self.shown.limits))
        pitch = (self.width() - 4 * GRID) / count
        side = max(
            8.0 * GRID, min(pitch - left - 4 * GRID, self.height() - 3 * line - below - 4 * GRID)
        )
        return {
            kind: QRectF(2 * GRID + number * pitch + left, 3 * line + 2 * GRID, side, side)
            for number, kind in enumerate(self.shown.limits)
        }

    def frame(self) -> QRectF | None:
        return QRectF(self.rect()).adjusted(1, 1, -2, -2) if self.shown.heads else None

    # Painting

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for kind, plot in self._plots().items():
            self._paint_axes(painter, kind, plot)
        for head in self.shown.heads:
            if head != self._selected:
                self._paint_point(painter, head)
        if self._selected is not None and self._selected in self.shown.heads:
            self._paint_point(painter, self._selected)

    def _paint_axes(self, painter: QPainter, kind: AttentionKind, plot: QRectF) -> None:
        theme, small = self.theme, scaled_font(self.font(), 0.85)
        line = QFontMetricsF(small).height()
        painter.setPen(theme.color("ink"))
        painter.setFont(scaled_font(self.font(), 1.0, bold=True))
        wide = plot.adjusted(0, 0, 12 * GRID, 0)
        painter.drawText(wide.topLeft() - QPointF(0, 1.6 * line), TITLES[kind])
        painter.setFont(small)
        painter.setPen(theme.color("soft"))
        mean = f"mean {bits_in_words(self.shown.mean(kind))}"
        painter.drawText(plot.topLeft() - QPointF(0, 0.5 * line), mean)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawRect(plot)
        painter.setPen(QPen(theme.color("line"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(plot.bottomLeft(), plot.topRight())
        limit = self._limit(kind)
        marks = ticks(0, limit, AxisScale.LINEAR, max(2, int(plot.width() / (8 * GRID))))
        painter.setPen(theme.color("soft"))
        for value, text in zip(marks, tick_texts(marks), strict=True):
            x = plot.left() + plot.width() * value / limit
            y = plot.bottom() - plot.height() * value / limit
            below = QRectF(x - 8 * GRID, plot.bottom() + GRID / 2, 16 * GRID, line)
            painter.drawText(below, _Center, text)
            beside = QRectF(plot.left() - 17 * GRID, y - line / 2, 16 * GRID, line)
            painter.drawText(beside, Qt.AlignmentFlag.AlignRight, text)
        name = QRectF(plot.left(), plot.bottom() + line, plot.width(), line)
        painter.drawText(name, _Center, "before, bits")
        painter.save()
        number = QFontMetricsF(small).horizontalAdvance("0.0") + 2 * GRID
        painter.translate(plot.left() - number - line, plot.center().y())
        painter.rotate(-90)
        painter.drawText(QRectF(-plot.height() / 2, 0, plot.height(), line), _Center, "now, bits")
        painter.restore()

    def _paint_point(self, painter: QPainter, head: Head) -> None:
        chosen = head == self._selected
        color = self.theme.color("accent")
        color.setAlphaF(1.0 if chosen else 0.45)
        painter.setBrush(color)
        painter.setPen(QPen(self.theme.color("ink"), 2) if chosen else Qt.PenStyle.NoPen)
        radius = _RADIUS + 2 * chosen
        painter.drawEllipse(self.point_of(head), radius, radius)
        if chosen:
            painter.setFont(scaled_font(self.font(), 0.85, bold=True))
            painter.setPen(self.theme.color("ink"))
            text = f"{head.layer + 1}.{head.head + 1}"
            plot, point = self._plots()[head.kind], self.point_of(head)
            right = point.x() > plot.center().x()
            width = QFontMetricsF(painter.font()).horizontalAdvance(text)
            x = point.x() - width - 2 * GRID if right else point.x() + 2 * GRID
            painter.drawText(QPointF(x, max(plot.top() + 3 * GRID, point.y() - GRID)), text)

    # Pointing

    def head_at(self, point: QPointF) -> Head | None:
        """The nearest head whose point is under the pointer."""

        def distance(head: Head) -> float:
            away = self.point_of(head) - point
            return (away.x() ** 2 + away.y() ** 2) ** 0.5

        nearest = min(self.shown.heads, key=distance, default=None)
        return nearest if nearest is not None and distance(nearest) <= _NEAR else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self.head_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and head is not None:
            self.headChosen.emit(head)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step, heads = _MOVES.get(Qt.Key(event.key())), list(self.shown.heads)
        if step is None or self._selected not in heads:
            super().keyPressEvent(event)
            return
        place = heads.index(self._selected) + step
        if 0 <= place < len(heads):
            self.headChosen.emit(heads[place])

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            head = self.head_at(QPointF(event.pos()))
            text = f"{head_name(head)}: {bits_in_words(self.shown.heads[head])}" if head else ""
            QToolTip.showText(event.globalPos(), plain_tooltip(text) if text else "", self)
            return True
        return super().event(event)
