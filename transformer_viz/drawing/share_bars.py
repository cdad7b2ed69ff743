"""How much of each decoding step comes from the source, the rest being the target prefix.

Legend: T decoding steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing.labels import draw_label, label_step
from transformer_viz.theme import GRID, Theme, scaled_font

BARS = 8 * GRID
WIDEST = 16 * GRID  # of a step
_NUMBER_SIZE = 0.75  # of the font


@dataclass(frozen=True, slots=True)
class ShareLayout:
    """Where the steps lie: step *t* at [left + t·pitch, left + (t + 1)·pitch)."""

    left: float
    top: float
    pitch: float
    count: int

    def step_at(self, point: QPointF) -> int | None:
        step = math.floor((point.x() - self.left) / self.pitch)
        return step if 0 <= step < self.count else None

    def bar(self, step: int) -> QRectF:
        gap = 1.0 if self.pitch >= 2 * GRID else 0.0
        left = self.left + step * self.pitch
        return QRectF(left + gap, self.top, self.pitch - 2 * gap, BARS)


def share_layout(rect: QRectF, count: int) -> ShareLayout:
    return ShareLayout(rect.left(), rect.top(), min(rect.width() / count, WIDEST), count)


def height(font: QFont) -> float:
    """Of bars, numbers and labels."""
    small = QFontMetricsF(scaled_font(font, _NUMBER_SIZE)).height()
    return BARS + small + QFontMetricsF(font).height() + GRID


def draw_shares(
    painter: QPainter,
    layout: ShareLayout,
    shares: np.ndarray,
    tokens: Sequence[Token],
    theme: Theme,
    font: QFont,
    *,
    marked: int | None,
) -> None:
    """A bar for each step, the source from the bottom, with its per cent and its token below.

    `shares`: the source's, [T] in 0 … 1; `tokens`: what each step predicts.
    """
    small = scaled_font(font, _NUMBER_SIZE)
    line, digits = QFontMetricsF(font).height(), QFontMetricsF(small).height()
    needed = QFontMetricsF(small).horizontalAdvance("100") + GRID
    stride = label_step(layout.pitch, needed)
    centre = Qt.AlignmentFlag.AlignHCenter
    for step, share in enumerate(shares):
        bar = layout.bar(step)
        split = bar.bottom() - float(share) * bar.height()
        painter.fillRect(bar, theme.color("chip"))
        painter.fillRect(
            QRectF(QPointF(bar.left(), split), bar.bottomRight()), theme.color("accent")
        )
        painter.setPen(QPen(theme.color("ink" if step == marked else "border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        if step != marked and (step + 1) % stride and stride > 1:
            continue
        if step != marked and marked is not None and abs(step - marked) * layout.pitch < needed:
            continue
        middle = bar.center().x()
        room = max(stride * layout.pitch, needed) - 2
        painter.setFont(small)
        painter.setPen(theme.color("accent" if step == marked else "soft"))
        number = QRectF(middle - needed, bar.bottom() + 1, 2 * needed, digits)
        painter.drawText(number, Qt.AlignmentFlag.AlignCenter, f"{100 * share + 1e-4:.0f}")
        painter.setFont(scaled_font(font, 0.85))
        label = QRectF(middle - room / 2, number.bottom(), room, line)
        if step < len(tokens):
            draw_label(painter, label, tokens[step], theme, align=centre, strong=step == marked)
    painter.setFont(font)


def draw_key(painter: QPainter, rect: QRectF, text: str, theme: Theme) -> None:
    """Two swatches with what they stand for, and what else there is to say."""
    metrics = QFontMetricsF(painter.font())
    x, side = rect.left(), 2.5 * GRID
    top = rect.center().y() - side / 2
    for color, name in ((theme.color("accent"), "source"), (theme.color("chip"), "target prefix")):
        painter.fillRect(QRectF(x, top, side, side), color)
        x += side + GRID
        painter.setPen(theme.color("ink"))
        painter.drawText(QPointF(x, rect.center().y() + metrics.ascent() / 2 - 1), name)
        x += metrics.horizontalAdvance(name) + 3 * GRID
    painter.setPen(theme.color("soft"))
    room = rect.right() - x
    said = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    painter.drawText(QPointF(x, rect.center().y() + metrics.ascent() / 2 - 1), said)
