"""A place of a comparison, in words and numbers."""

import math

from core.trace.alignment import GAP
from core.trace.head_map import cell_weight
from core.trace.trace import Head, Trace
from transformer_viz.compare.compare_pictures import ComparePictures
from transformer_viz.widgets.head_pictures import MapAxes
from transformer_viz.widgets.readout import Reading
from transformer_viz.words.wording import token_name

ROWS_TIP = (
    "Total variation distance of two rows: ½ Σ |a − b| over their keys.\n0: the same attention; "
    "1: nothing in common.\nA key that one side lacks counts with its full weight."
)


def read_place(pictures: ComparePictures, row: int, column: int) -> Reading:
    """Describe both weights, and their difference where both sides have the cell."""
    request, axes, minus = pictures.request, pictures.axes, pictures.minus
    title = f"{token_name(minus.rows[row])} → {token_name(minus.columns[column])}"
    rows, columns, sides = axes.rows, axes.columns, request.sides
    a = _weight(sides.a, request.a, axes.a, rows.first[row], columns.first[column])
    b = _weight(sides.b, request.b, axes.b, rows.second[row], columns.second[column])
    lines = [("predicts", token_name(minus.predicted[row]))] if minus.predicted else []
    for side, weight in (("A", a), ("B", b)):
        lines.append((side, weight if isinstance(weight, str) else f"{weight:.4f}"))
    if isinstance(a, str) or isinstance(b, str):
        return Reading(title, None, tuple(lines))
    lines.append(("A − B", f"{a - b:+.4f}".replace("-", "−")))
    return Reading(title, a - b, tuple(lines))


def read_rows(pictures: ComparePictures, row: int | None) -> str:
    """How far apart the rows are, on average and in focus."""
    difference, minus = pictures.difference, pictures.minus
    if math.isnan(difference.mean_distance):
        return "The two sides have no row in common."
    text = f"Total variation of the rows: {difference.mean_distance:.2f} on average"
    if row is None:
        return text
    distance = float(difference.row_distances[row])
    own = "on one side only" if math.isnan(distance) else f"{distance:.2f}"
    return f"{text} · “{token_name(minus.rows[row])}”: {own}"


def _weight(trace: Trace, head: Head, axes: MapAxes, row: int, column: int) -> float | str:
    """The weight of a cell, given by its entries, or why there is none."""
    if row == GAP or column == GAP:
        return "missing"
    queries, keys = axes.rows.spans[row], axes.columns.spans[column]
    if not trace.allowed(head.kind)[queries.start : queries.stop, keys.start : keys.stop].any():
        return "masked"
    return cell_weight(trace, [head], queries, keys)
