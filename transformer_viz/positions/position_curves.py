"""Chosen dimensions over position: waves of different length."""

import numpy as np
from PySide6.QtWidgets import QVBoxLayout

from transformer_viz.drawing.lines import Line, Mark, Plot, Shaded
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.positions.extent import Extent, regions
from transformer_viz.positions.position_page import PositionPage, PositionState, dimension_name
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.text_line import label


class PositionCurves(PositionPage):
    """Columns of the position table as curves, read off at a position."""

    def __init__(self) -> None:
        super().__init__()
        self._about_end = ""
        self.canvas = LinePlot("Dimensions over position", of="Position")
        self.canvas.stepRead.connect(self._show_reading)
        self.reading = label("soft", wrap=True)
        self.reading.setContentsMargins(4 * GRID, 0, 4 * GRID, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2 * GRID)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.reading)

    def picture(self) -> Picture:
        return self.canvas

    def show_state(self, state: PositionState, theme: Theme) -> None:
        table, extent = state.table, state.extent
        self._about_end = extent.sentence_about_end()
        values = table.values[: extent.present]
        limit = float(np.abs(values[:, list(state.dimensions)]).max(initial=0.0)) or 1.0
        lines = tuple(
            Line(
                np.arange(extent.present, dtype=float),
                values[:, dimension].astype(float),
                dimension_name(table, dimension),
                slot,
            )
            for slot, dimension in enumerate(state.dimensions)
        )
        marks = (Mark(one.position, one.text, True, one.token) for one in extent.marks())
        self.canvas.show_plot(
            Plot(
                lines,
                tuple(marks),
                tuple(_shaded(extent)),
                x_title="position",
                y_title="value",
                x_range=(0.0, float(max(1, extent.shown - 1))),
                y_range=(-limit, limit),
            )
        )
        self.canvas.apply_theme(theme)
        self._show_reading()

    def _show_reading(self) -> None:
        position = self.canvas.step
        self.reading.setText(self._about_end if position is None else f"Position {position:,.0f}")


def _shaded(extent: Extent) -> list[Shaded]:
    """What lies beyond training, and beyond the end of a learned table."""
    beyond = [part for part in regions(extent) if part[0] > 0]
    ended = extent.shown if extent.end is None else extent.end
    return [Shaded(start, stop, hatched=start >= ended) for start, stop in beyond]
