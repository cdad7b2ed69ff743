"""How alike the encodings of every two positions are."""

from collections.abc import Iterator

import numpy as np
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from core.trace.positions import similarity
from core.trace.trace import Floats
from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.number_map import NumberMap
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.scales import Legend
from transformer_viz.theme import GRID, LIGHT, Theme
from transformer_viz.views.accessibility import announce
from transformer_viz.views.number_canvas import NumberCanvas
from transformer_viz.views.position_page import PositionPage, PositionState, label
from transformer_viz.views.stream import Stream

INLINE_PRODUCTS = 2e7
"""So many multiplications are done at once; more beside the event loop."""

_SINUSOIDS = (
    "Of sinusoids the dot product depends on the distance alone: the sum of cos(ω·distance) "
    "over all frequencies ω."
)
_LEARNED = "Nothing obliges a learned table to have neighbours alike: what is alike, training made."


class PositionSimilarity(PositionPage):
    def __init__(self) -> None:
        super().__init__()
        self._state: PositionState | None = None
        self._theme = LIGHT
        self._values: Floats | None = None  # [n, n], of the positions shown that exist
        self._of: tuple[Floats, int, bool] | None = None  # what `_values` is the similarity of
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show_values)
        self.canvas = NumberCanvas("Similarity of every two positions")
        self.canvas.focusMoved.connect(self._show_reading)
        self.setFocusProxy(self.canvas)
        self.dot, self.cosine = QPushButton("Dot product"), QPushButton("Cosine")
        self._measures = QButtonGroup(self)
        measures = QHBoxLayout()
        measures.setContentsMargins(4 * GRID, 0, 4 * GRID, GRID)
        for button in (self.dot, self.cosine):
            button.setCheckable(True)
            self._measures.addButton(button)
            measures.addWidget(button)
        self.dot.setChecked(True)
        self._measures.buttonClicked.connect(self._refresh)
        self._fact = label("soft", wrap=True)
        measures.addWidget(self._fact, 1)
        self.reading = label("soft")
        self.reading.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2 * GRID)
        column.addLayout(measures)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.reading)

    def picture(self) -> QWidget:
        return self.canvas

    def show_state(self, state: PositionState, theme: Theme) -> None:
        self._state, self._theme = state, theme
        self._fact.setText(_LEARNED if state.table.learned else _SINUSOIDS)
        self._refresh()

    def _refresh(self) -> None:
        assert self._state is not None
        values, present = self._state.table.values, self._state.extent.present
        cosine = self.cosine.isChecked()
        if self._of is not None and self._of[0] is values and self._of[1:] == (present, cosine):
            if self._values is not None:
                self._show_values(self._values)
            return
        self._of, self._values = (values, present, cosine), None
        shown = values[:present]
        if present * shown.size <= INLINE_PRODUCTS:
            self._stream.stop()
            self._show_values(similarity(shown, cosine=cosine))
        else:
            self.reading.setText("Computing …")
            self._stream.start(_similarities(shown, cosine))

    def _show_values(self, values: Floats) -> None:
        assert self._state is not None
        self._values = values
        extent, present = self._state.extent, len(values)
        limit = 1.0 if self.cosine.isChecked() else float(np.abs(values).max()) or 1.0
        codes = np.zeros((extent.shown, extent.shown), np.uint8)
        codes[:present, :present] = encode_signed(values, limit)
        name = "cosine" if self.cosine.isChecked() else "dot product"
        ticks = ((1.0, f"{limit:.3g}"), (0.5, "0"), (0.0, f"−{limit:.3g}"))
        picture = NumberMap(codes, extent, True, "position", Legend((name,), ticks))
        self.canvas.show_picture(picture, diverging_table(self._theme), self._theme)
        self._show_reading()

    def _show_reading(self) -> None:
        cell = self.canvas.cell
        if self._values is None or cell is None:
            self.reading.setText("Point at a cell to read it.")
            return
        p, q = cell
        value = signed(float(self._values[p, q]), 3)
        what = f"cos(PE({p}), PE({q}))" if self.cosine.isChecked() else f"PE({p}) · PE({q})"
        self.reading.setText(f"{what} = {value}, distance {abs(p - q)}")
        announce(self.canvas, self.reading.text())


def _similarities(values: Floats, cosine: bool) -> Iterator[Floats]:
    yield similarity(values, cosine=cosine)
