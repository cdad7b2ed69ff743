"""Why scores are divided by √d_k, on random queries and keys whose width one turns like a dial."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QVBoxLayout, QWidget

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.gates.spread_canvas import SpreadCanvas
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.style import dress_spin_box
from transformer_viz.widgets.text_line import label

WIDEST = 512
_PAPER = 64
_TURN = 8  # places of the slider for each doubling


class SpreadDial(QWidget):
    """Turns d_k from 1 to 512, and shows the spread of q · k, the softmax and its gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, round(_TURN * math.log2(WIDEST)))
        self.slider.setPageStep(_TURN)
        self.slider.setAccessibleName("d_k, logarithmic")
        self.box = WholeBox()
        self.box.setRange(1, WIDEST)
        self.box.setAccessibleName("d_k")
        self.again = QPushButton("Draw again")
        self.again.setToolTip("Draw other random queries and keys of this width")
        self.about = label("soft", wrap=True)
        self.about.setText(
            "Queries and keys with independent components of mean 0 and variance 1: their product "
            "has variance d_k (paper, section 3.2.1, footnote 4). The wider they are, the more one "
            "key takes all, and the smaller the gradient ‖diag(w) − w wᵀ‖ that is left to learn "
            "from, unless the scores are divided by √d_k."
        )
        self.canvas = SpreadCanvas()
        self._seed = 0
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(QLabel("d_k"))
        row.addWidget(self.slider, 1)
        row.addWidget(self.box)
        row.addWidget(self.again)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(row)
        column.addWidget(self.about)
        column.addWidget(self.canvas, 1)
        self.slider.valueChanged.connect(self._on_turned)
        self.box.valueChanged.connect(self._show)
        self.again.clicked.connect(self._draw_again)
        self.box.setValue(_PAPER)
        self._show(_PAPER)

    def apply_theme(self, theme: Theme) -> None:
        self.canvas.theme = theme
        dress_spin_box(self.box, theme)
        self.canvas.update()

    def _on_turned(self, place: int) -> None:
        self.box.setValue(round(2 ** (place / _TURN)))

    def _draw_again(self) -> None:
        self._seed += 1
        self._show(self.box.value())

    def _show(self, d_k: int) -> None:
        self.slider.blockSignals(True)
        self.slider.setValue(round(_TURN * math.log2(d_k)))
        self.slider.blockSignals(False)
        self.canvas.show_sample(d_k, self._seed)
