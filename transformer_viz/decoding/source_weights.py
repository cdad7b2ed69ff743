"""Where one step looks in the source: its cross-attention row over the sentence."""

import math

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.text.tokens import Token
from transformer_viz.drawing.chips import draw_chip
from transformer_viz.drawing.numbers import share
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.chip_flow import ChipFlow
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import plain_tooltip, token_name

_NAMED = 3  # of the heaviest tokens are named in words


class SourceWeights(QWidget):
    """Names the heads and the largest weights, and shades the sentence by weight."""

    def __init__(self) -> None:
        super().__init__()
        self._title = QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self._title, "soft")
        self.chips = _WeightedChips()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._title)
        column.addWidget(self.chips)

    def show_row(self, heads: str, tokens: tuple[Token, ...], weights: np.ndarray) -> None:
        """Show a row; `heads`: whose row it is, in words, `weights`: [S]."""
        heaviest = np.argsort(-weights, kind="stable")[:_NAMED]
        named = " · ".join(f"{token_name(tokens[i])} {share(float(weights[i]))}" for i in heaviest)
        self._title.setText(f"{heads}:  {named}")
        self._title.setToolTip(plain_tooltip(f"{heads}\nEach bar is the weight, from 0 to 1."))
        self.chips.show_weights(tokens, weights)
        announce(self.chips, f"{heads}: {named}")

    def show_nothing(self, why: str) -> None:
        self._title.setText(why)
        self.chips.show_weights((), np.empty(0))

    def apply_theme(self, theme: Theme) -> None:
        self.chips.apply_theme(theme)


class _WeightedChips(ChipFlow):
    def __init__(self) -> None:
        super().__init__()
        self._weights = np.empty(0)
        self.setAccessibleName("Source tokens by cross-attention")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_weights(self, tokens: tuple[Token, ...], weights: np.ndarray) -> None:
        self._weights = weights
        self.set_tokens(tokens)
        if len(weights):
            self.reveal(int(weights.argmax()))

    def draw(self, painter: QPainter, index: int, rect: QRectF) -> None:
        weight = float(self._weights[index])
        draw_chip(
            painter,
            rect,
            self.tokens[index],
            self.theme,
            chosen=False,
            hovered=index == self.pointed,
            log_probability=math.log(weight) if weight > 0 else None,
            shade=weight,
            size=self.size_of_chips,
        )

    def explanation(self, index: int) -> str:
        return f"{token_name(self.tokens[index])} ({index + 1}): weight {self._weights[index]:.4f}"
