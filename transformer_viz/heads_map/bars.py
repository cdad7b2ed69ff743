"""Weights as a list of bars: place in the text, token, bar, weight; heaviest first."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from core.text.tokens import Token
from core.trace.head_map import Entries
from transformer_viz.drawing.labels import draw_label
from transformer_viz.drawing.numbers import place_of
from transformer_viz.drawing.theme import GRID, Theme, scaled_font, taller

_ROW = 6 * GRID
_MIDDLE_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LABEL_SHARE = 0.42  # of the width, for place and token


def row_height(font: QFont) -> int:
    return taller(_ROW, font)


class Bar(NamedTuple):
    """A bar of a weight; `key` is the token that stands for a token or a merged word, `place` its
    number in the text, from 1."""

    key: int
    token: Token
    weight: float
    place: str


def heaviest(weights: np.ndarray, keys: Entries, count: int) -> list[Bar]:
    """The `count` heaviest keys of one query's weights [K], in falling order, ties by position."""
    order = np.argsort(-weights, kind="stable")[:count]
    return [
        Bar(keys.token(key), keys.tokens[key], float(weights[key]), place_of(keys.spans[key]))
        for key in order
    ]


def draw_bars(
    painter: QPainter,
    rect: QRectF,
    bars: Sequence[Bar],
    theme: Theme,
    font: QFont,
    *,
    marked: int | None,
    full: float = 1.0,
) -> None:
    """One row of `row_height` per bar from the top of `rect`; a full bar is `full`.

    `marked`: the key shown as chosen.
    """
    height = row_height(font)
    figures, small = scaled_font(font, 1.0), scaled_font(font, 0.8)
    number = QFontMetricsF(figures).horizontalAdvance("0.000")
    place = max((QFontMetricsF(small).horizontalAdvance(bar.place) for bar in bars), default=0)
    label = rect.width() * _LABEL_SHARE
    track_left, track_width = rect.left() + label + GRID, rect.width() - label - number - 4 * GRID
    for index, bar in enumerate(bars):
        row = QRectF(rect.left(), rect.top() + index * height, rect.width(), height)
        strong = bar.key == marked
        painter.setFont(small)
        painter.setPen(theme.color("accent" if strong else "faint"))
        painter.drawText(QRectF(row.left(), row.top(), place, height), _MIDDLE_RIGHT, bar.place)
        painter.setFont(figures)
        text = QRectF(row.left() + place + 2 * GRID, row.top(), label - place - 3 * GRID, height)
        draw_label(painter, text, bar.token, theme, align=Qt.AlignmentFlag.AlignLeft, strong=strong)
        track = QRectF(track_left, row.center().y() - GRID, track_width, 2 * GRID)
        painter.fillRect(track, theme.color("chip"))
        painter.fillRect(
            QRectF(track.left(), track.top(), bar.weight / full * track_width, track.height()),
            theme.color("accent"),
        )
        painter.setPen(theme.color("ink"))
        painter.drawText(row, _MIDDLE_RIGHT, f"{bar.weight:.3f}")
