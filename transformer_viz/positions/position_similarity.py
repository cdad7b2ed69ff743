"""How alike the encodings of every two positions are."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout

from core.trace.positions import similarity
from core.trace.trace import Floats
from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.engine.stream import Stream
from transformer_viz.positions.number_canvas import NumberCanvas
from transformer_viz.positions.number_map import NumberMap
from transformer_viz.positions.position_page import PositionPage, PositionState
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.text_line import label

INLINE_PRODUCTS = 2e7
"""So many multiplications are done at once; more beside the event loop."""

_SINUSOIDS = (
    "For sinusoids, the dot product depends only on the distance: it is the sum of "
    "cos(ω·distance) over all frequencies ω."
)
_ROTARY = (
    "For rotary positions, this is q · k of two equal vectors turned to both positions: it depends "
    "only on the distance, and is the sum of cos(ω·distance) over all frequencies ω."
)
_LEARNED = "Nothing forces neighbours in a learned table to be similar; any similarity was learned."


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
    """The similarity of every two positions, [n, n], with colours: uint8 codes up to ±limit."""

    values: Floats
    codes: np.ndarray
    limit: float


class PositionSimilarity(PositionPage):
    def __init__(self) -> None:
        super().__init__()
        self._state: PositionState | None = None
        self._theme = LIGHT
        self._found: Similarities | None = None  # of the positions shown that exist
        self._of: tuple[Floats, int, bool] | None = None  # what `_found` is the similarity of
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show)
        self.canvas = NumberCanvas("Similarity of all pairs of positions")
        self.canvas.focusMoved.connect(self._show_reading)
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

    def picture(self) -> Picture:
        return self.canvas

    def show_state(self, state: PositionState, theme: Theme) -> None:
        self._state, self._theme = state, theme
        facts = {"learned": _LEARNED, "rotary": _ROTARY}
        self._fact.setText(facts.get(state.table.kind, _SINUSOIDS))
        self._refresh()

    def _refresh(self) -> None:
        assert self._state is not None
        values, present = self._state.table.values, self._state.extent.present
        cosine = self.cosine.isChecked()
        if self._of is not None and self._of[0] is values and self._of[1:] == (present, cosine):
            if self._found is not None:
                self._show(self._found)
            return
        self._of, self._found = (values, present, cosine), None
        shown = values[:present]
        if present * shown.size <= INLINE_PRODUCTS:
            self._stream.stop()
            self._show(_similarities(shown, cosine))
        else:
            self.reading.setText("Computing…")
            self._stream.start(_stream(shown, cosine))

    def _show(self, found: Similarities) -> None:
        assert self._state is not None
        self._found = found
        extent, present, limit = self._state.extent, len(found.values), found.limit
        codes = np.zeros((extent.shown, extent.shown), np.uint8)
        codes[:present, :present] = found.codes
        name = "cosine" if self.cosine.isChecked() else "dot product"
        ticks = ((1.0, f"{limit:.3g}"), (0.5, "0"), (0.0, f"−{limit:.3g}"))
        picture = NumberMap(codes, extent, True, "position", Legend((name,), ticks))
        self.canvas.show_picture(picture, diverging_table(self._theme), self._theme)
        self._show_reading()

    def _show_reading(self) -> None:
        cell = self.canvas.cell
        if self._found is None or cell is None:
            self.reading.setText("Hover over a cell to read it.")
            return
        p, q = cell
        value = signed(float(self._found.values[p, q]), 3)
        what = f"cos(PE({p}), PE({q}))" if self.cosine.isChecked() else f"PE({p}) · PE({q})"
        self.reading.setText(f"{what} = {value}, distance {abs(p - q)}")
        announce(self.canvas, self.reading.text())


def _similarities(values: Floats, cosine: bool) -> Similarities:
    found = similarity(values, cosine=cosine)
    limit = 1.0 if cosine else float(np.abs(found).max()) or 1.0
    return Similarities(found, encode_signed(found, limit), limit)


def _stream(values: Floats, cosine: bool) -> Iterator[Similarities]:
    yield _similarities(values, cosine)
