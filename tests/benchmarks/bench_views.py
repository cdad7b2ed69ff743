"""From tokens to a drawn picture, beside what bertviz takes for its HTML alone.

Ours runs the model (6 + 6 layers, 8 heads, d_model 512), records it and paints all heads, or the
links of one layer. bertviz is given finished attention of the same shape, and what is timed is the
page it writes: a browser would still have to draw it.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from functools import partial

from tests.benchmarks.figure import Figure, UnavailableError

LENGTHS = (20, 50, 100, 200, 512)
SECONDS = 10.0  # no further repetition of a measurement that has taken so long
REPETITIONS = 5


def run() -> list[Figure]:
    if importlib.util.find_spec("bertviz") is None or importlib.util.find_spec("IPython") is None:
        raise UnavailableError("bertviz is not installed (the extra “bench” holds it)")
    from tests.benchmarks.views_peers import Ours, bertviz_input, bertviz_page

    ours = Ours()
    figures = []
    for length in LENGTHS:
        source, target = ours.texts(length)
        attention = bertviz_input(ours.trace(source, target))
        for name, paint, view in (
            ("all heads", ours.heads_map, "model_view"),
            ("links of a layer", ours.links, "head_view"),
        ):
            own, peer = paired(
                partial(paint, source, target), partial(bertviz_page, view, attention)
            )
            figures.append(
                Figure(
                    f"{name}, {length} × {length} tokens",
                    1000 * own,
                    "ms",
                    ratio=peer / own,
                    peer=f"bertviz {view} HTML, {1000 * peer:,.0f} ms",
                )
            )
    ours.close()
    return figures


def paired(own: Callable[[], object], peer: Callable[[], object]) -> tuple[float, float]:
    """Median seconds of each, measured by turns."""
    times: tuple[list[float], list[float]] = ([], [])
    start = time.perf_counter()
    while len(times[0]) < REPETITIONS and time.perf_counter() - start < SECONDS:
        for measured, work in zip(times, (own, peer), strict=True):
            begin = time.perf_counter()
            work()
            measured.append(time.perf_counter() - begin)
    return statistics.median(times[0]), statistics.median(times[1])
