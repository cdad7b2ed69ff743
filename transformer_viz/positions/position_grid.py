"""The table itself: a row per position, a column per dimension."""

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout

from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.scales import Legend
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.positions.number_canvas import NumberCanvas
from transformer_viz.positions.number_map import NumberMap
from transformer_viz.positions.position_page import PositionPage, PositionState, dimension_name
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.text_line import label

_HINT = "Hover over a cell to read it; click to plot its dimension."


class PositionGrid(PositionPage):
    dimensionChosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._state: PositionState | None = None
        self.canvas = NumberCanvas("Positions by dimensions")
        self.canvas.focusMoved.connect(self._show_reading)
        self.canvas.clicked.connect(lambda _row, column: self.dimensionChosen.emit(column))
        self.reading = label("soft")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2 * GRID)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.reading)
        self.reading.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)

    def picture(self) -> Picture:
        return self.canvas

    def show_state(self, state: PositionState, theme: Theme) -> None:
        self._state = state
        table, extent = state.table, state.extent
        values = table.values[: extent.present]
        limit = float(np.abs(values).max()) or 1.0 if table.learned else 1.0
        codes = np.zeros((extent.shown, table.d_model), np.uint8)
        codes[: extent.present] = encode_signed(values, limit)
        ticks = ((1.0, f"{limit:.2g}"), (0.5, "0"), (0.0, signed(-limit, 2 if limit < 1 else 0)))
        picture = NumberMap(codes, extent, False, "dimension", Legend(("value",), ticks))
        self.canvas.show_picture(picture, diverging_table(theme), theme)
        self._show_reading()

    def _show_reading(self) -> None:
        state, cell = self._state, self.canvas.cell
        if state is None or cell is None:
            self.reading.setText(_HINT)
            return
        position, dimension = cell
        value = signed(float(state.table.values[position, dimension]), 4)
        name = dimension_name(state.table, dimension)
        self.reading.setText(f"Position {position}, {name}. Value {value}")
        announce(self.canvas, self.reading.text())
