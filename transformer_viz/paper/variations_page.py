"""Table 3 of the paper: what changes when one part of the base model does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from core.paper.variations import FINDINGS, VARIATIONS, Variation
from core.presets import preset
from core.training.estimate import parameter_count
from transformer_viz.drawing.lines import Line, Name, Plot, Side
from transformer_viz.widgets.line_plot import LinePlot
from transformer_viz.widgets.result_page import ResultPage
from transformer_viz.widgets.result_table import ResultTable, Row

_GROUPS = {
    "": "base and big",
    "A": "A: heads",
    "B": "B: width of keys",
    "C": "C: size",
    "D": "D: dropout and smoothing",
    "E": "E: positions",
}
# The points that are named; the others lie too close together.
_NAMED = {
    "base": Side.ABOVE,
    "big": Side.RIGHT,
    "a-heads-1": Side.RIGHT,
    "c-layers-2": Side.LEFT,
    "c-d_model-256": Side.BELOW,
    "c-d_model-1024": Side.BELOW,
    "c-d_ff-4096": Side.RIGHT,
    "d-dropout-0.0": Side.ABOVE,
    "d-smoothing-0.0": Side.BELOW,
    "d-smoothing-0.2": Side.RIGHT,
}
_HEADS = ("Change", "parameters", "paper", "PPL", "BLEU", "preset")
_CAPTION = (
    "BLEU and perplexity per word piece on newstest2013, English to German, without averaged "
    "checkpoints. A lower perplexity mostly comes with a higher BLEU. The exception is training "
    "without label smoothing: perplexity is better, BLEU is worse. Parameters are exact for 37,000 "
    "pieces; the paper's fit about 41,000."
)


class VariationsPlot(LinePlot):
    """Names the rows that are read off."""

    def describe_at(self, x: float) -> str:
        return "; ".join(
            f"{one.change}: perplexity {one.perplexity:.2f}, BLEU {one.bleu:.1f}"
            for one in VARIATIONS
            if one.perplexity == x
        )


class VariationsPage(ResultPage):
    """BLEU against perplexity, and the table with exact numbers of parameters."""

    title = "Variations of the base model: the paper's Table 3"

    def __init__(self) -> None:
        super().__init__(
            VariationsPlot("BLEU by perplexity", of="perplexity"), ResultTable("Table 3")
        )
        self.controls.hide()

    def refresh(self) -> None:
        if not self.table.rows:
            self.caption.setText(_CAPTION)
            self.plot.show_plot(variations_plot())
            self.table.show_rows(list(_rows()))


def variations_plot() -> Plot:
    """Return a point for each row, in the colour of its group."""
    lines = []
    for number, (group, label) in enumerate(_GROUPS.items()):
        points = sorted((one.perplexity, one.bleu) for one in VARIATIONS if one.group == group)
        x, y = np.array(points, dtype=float).T
        lines.append(Line(x, y, label, number, dots=True, scattered=True))
    names = [
        Name(one.perplexity, one.bleu, _short(one.change), _NAMED[one.preset])
        for one in VARIATIONS
        if one.preset in _NAMED
    ]
    return Plot(
        tuple(lines),
        x_title="perplexity of a word piece",
        y_title="BLEU on newstest2013",
        x_range=(4.25, 6.2),
        names=tuple(names),
        whole=False,
    )


def _short(change: str) -> str:
    """The first part of what changes."""
    return change.split(",")[0].split(":")[0]


def _rows() -> Iterator[Row]:
    yield Row(_HEADS, head=True)
    for group, rows in groupby(VARIATIONS, lambda one: one.group):
        yield from map(_row, rows)
        if group:
            yield Row((f"({group}) {FINDINGS[group]}",))


def _row(one: Variation) -> Row:
    count = parameter_count(preset(one.preset).model)
    name = f"({one.group}) {one.change}" if one.group else one.change
    printed = "" if one.millions is None else f"{one.millions} M"
    cells = (name, f"{count:,}", printed, f"{one.perplexity:.2f}", f"{one.bleu:.1f}", one.preset)
    return Row(cells, strong=not one.group, place=one.perplexity)
