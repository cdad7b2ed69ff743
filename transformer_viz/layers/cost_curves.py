"""The curves and the table of what kinds of layers cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.counted import counted
from core.lab.report import BYTES, INFLUENCE, SECONDS, LayerCost, LayersReport
from core.model.mixers.kinds import MIXERS
from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.lines import Line, Mark, Plot
from transformer_viz.drawing.numbers import compact
from transformer_viz.widgets.result_table import Row

_COLORS = {kind.name: number for number, kind in enumerate(MIXERS)}
_SHORT = {kind.name: kind.short for kind in MIXERS}


def unit_of(quantity: str) -> tuple[float, str]:
    """Return what a value is multiplied by to be shown, and the unit behind it."""
    if quantity in SECONDS:
        return 1e3, " ms"
    return (1e-6, " MB") if quantity in BYTES else (1.0, "")


def cost_plot(report: LayersReport, quantity: str, current: str = "") -> Plot:
    """Return the lines of a quantity; those of other kinds than `current` recede, if it is one."""
    scale, unit = unit_of(quantity)
    lines = []
    for layer in report.layers:
        points = layer.values(quantity)
        if not points:
            continue
        x, y = np.array(points, dtype=float).T
        power = layer.slope(quantity)
        name = _short(layer) if power is None else f"{_short(layer)} n^{power:.2f}"
        color = _COLORS.get(layer.kind, 0) if current in ("", layer.kind) else "line"
        y = np.where(y > 0, scale * y, np.nan)  # 0 has no place on a logarithmic axis
        lines.append(Line(x, y, name, color, dots=quantity != INFLUENCE, suffix=unit))
    if quantity == INFLUENCE:
        return Plot(
            tuple(lines),
            x_title="distance |i − j|",
            y_title="gradient of output i by input j",
            y_scale=AxisScale.LOG,
        )
    width = report.shape.d_model
    ends = [n for layer in report.layers for n in (cost.n for cost in layer.costs)]
    marks = (Mark(width, "n = d", True),) if ends and min(ends) <= width <= max(ends) else ()
    return Plot(
        tuple(lines),
        marks,
        x_title="positions n",
        y_title=f"one layer, one row{',' * bool(unit)}{unit}",
        x_scale=AxisScale.LOG,
        y_scale=AxisScale.LOG,
        suffix=unit,
    )


def cost_rows(report: LayersReport, quantity: str) -> Iterator[Row]:
    """Yield the titles and a row for each kind, then remarks."""
    titles = ("Kind", "order", "fitted", "at the end", "weights", "path", "by formula", "")
    yield Row(titles, head=True)
    for layer in report.layers:
        power = layer.slope(quantity)
        fitted = "–" if power is None else f"n^{power:.2f}"
        yield Row(
            (
                *(_short(layer), layer.order, fitted, _last(layer, quantity)),
                f"{layer.parameters:,}",
                *(_steps(layer.path), f"{_steps(layer.path_formula)}, O({layer.path_order})", ""),
            ),
            about=f"{layer.title}. {layer.left_out}".rstrip(),
        )
    for layer in report.layers:
        if layer.left_out:
            yield Row((f"{_short(layer)}: {layer.left_out}",))


def said_of(report: LayersReport, quantity: str) -> str:
    """Describe what was measured."""
    shape = report.shape
    if quantity == INFLUENCE:
        return (
            "The mean norm of the gradient of output i by input j, by distance: how much one "
            "position matters to another, in one layer with random weights, before any training. "
            "A line ends where nothing arrives. Path: steps that connect all of "
            f"{report.path_positions} positions."
        )
    form = "as in a decoder" if report.causal else "as in an encoder"
    said = (
        f"One layer and one row, {form}: d = {shape.d_model}, {counted(shape.heads, 'head')}, "
        f"k = {shape.kernel}, r = {shape.neighbours}; {report.processor}, "
        f"{counted(report.threads, 'thread')}. Powers fit the four longest rows. Path: steps that "
        f"connect all of {report.path_positions} positions, found by gradients."
    )
    if quantity == "step_seconds" and not report.causal:
        said += " Only the causal form decodes token by token: choose “Decoder” and measure again."
    return said


def _short(layer: LayerCost) -> str:
    return _SHORT.get(layer.kind, layer.title)


def _last(layer: LayerCost, quantity: str) -> str:
    values = layer.values(quantity)
    if not values:
        return "–"
    scale, unit = unit_of(quantity)
    n, value = values[-1]
    return f"{compact(scale * value)}{unit} at {n:,}"


def _steps(path: int | None) -> str:
    return "never" if path is None else f"{path:,}"
