"""Candidates of a step as rows: mark, token, bar, probability, log-probability."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from core.text.tokens import Token
from transformer_viz.drawing.labels import draw_label
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, Theme, scaled_font

ROW = 6 * GRID
_MARK = 4 * GRID


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A candidate for a step; `taken`: the hypothesis goes on with it, `listed`: it is among the
    most probable."""

    token: Token
    log_probability: float
    taken: bool
    listed: bool = True


def draw_header(painter: QPainter, rect: QRectF, theme: Theme, font: QFont) -> None:
    """What the numbers in the two columns are."""
    painter.setFont(scaled_font(font, 0.85))
    painter.setPen(theme.color("soft"))
    flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    probability, logarithm = _number_columns(rect, font)
    for column, name in ((probability, "p"), (logarithm, "log p")):
        column.setHeight(rect.height())
        painter.drawText(column, flags, name)


def draw_candidate(
    painter: QPainter,
    rect: QRectF,
    row: CandidateRow,
    theme: Theme,
    font: QFont,
    *,
    current: bool,
    hovered: bool,
    focused: bool,
) -> None:
    if current or hovered:
        painter.fillRect(rect, theme.color("accent_soft" if current else "hover"))
    if focused:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent"), 1))
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
    figures = scaled_font(font, 1.0, bold=row.taken)
    painter.setFont(figures)
    flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    if row.taken:
        painter.setPen(theme.color("accent"))
        mark = QRectF(rect.left(), rect.top(), _MARK, rect.height())
        painter.drawText(mark, Qt.AlignmentFlag.AlignCenter, "✓")
    probability, logarithm = _number_columns(rect, font)
    label_width = (probability.left() - rect.left() - _MARK) * 0.6
    label = QRectF(rect.left() + _MARK + GRID, rect.top(), label_width - 2 * GRID, rect.height())
    painter.setFont(scaled_font(font, 1.0))
    draw_label(painter, label, row.token, theme, align=Qt.AlignmentFlag.AlignLeft, strong=row.taken)
    left = label.right() + GRID
    track = QRectF(left, rect.center().y() - GRID, probability.left() - left, 2 * GRID)
    painter.fillRect(track, theme.color("chip"))
    share = math.exp(row.log_probability)
    painter.fillRect(
        QRectF(track.left(), track.top(), share * track.width(), track.height()),
        theme.color("accent"),
    )
    painter.setFont(scaled_font(font, 1.0))
    painter.setPen(theme.color("ink"))
    painter.drawText(probability, flags, _probability(share))
    painter.setPen(theme.color("soft"))
    painter.drawText(logarithm, flags, signed(row.log_probability))


def _probability(share: float) -> str:
    return f"{share:.3f}" if share >= 0.0005 else "<.001"


def _number_columns(rect: QRectF, font: QFont) -> tuple[QRectF, QRectF]:
    """Where probability and log-probability stand, right-aligned."""
    metrics = QFontMetricsF(scaled_font(font, 1.0))
    wide = metrics.horizontalAdvance("−00.00") + GRID
    narrow = metrics.horizontalAdvance("0.000") + 2 * GRID
    right = rect.right() - GRID
    return (
        QRectF(right - wide - narrow, rect.top(), narrow, rect.height()),
        QRectF(right - wide, rect.top(), wide, rect.height()),
    )
