"""What painting takes: the heads map of 144 heads, and pointing and switching heads in the window.

Beside the heads map stands the usual way, a plot widget per head, fed the same pictures in the same
process. Colours are changed before each redraw, so that nothing of the last one can be reused.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile

from core.bundled import bundled_models
from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError

TARGETS = {"redraw": 16, "point": 16, "hover": 16, "switch": 30}  # ms


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    with tempfile.TemporaryDirectory() as folder:
        environment = {"QT_QPA_PLATFORM": "offscreen"} | os.environ
        output = output_of("heads_map_child", "--config-dir", folder, environment=environment)
    measured = json.loads(output)
    seconds = measured["seconds"]
    tokens = measured["tokens"]
    atlas = "heads map, 144 heads × 128 tokens"
    names = {
        "redraw": f"{atlas}: redraw",
        "point": f"{atlas}: point at a token",
        "hover": f"window, {tokens} tokens: pointer to crosshair",
        "switch": f"window, {tokens} tokens: another head",
    }
    figures = []
    for key, name in names.items():
        median, percentile = _milliseconds(seconds[key])
        figures.append(Figure(f"{name}: median", median, "ms"))
        target = f"< {TARGETS[key]}"
        figures.append(Figure(f"{name}: p95", percentile, "ms", target=target))
    median, percentile = _milliseconds(seconds["plots"])
    ratio = median / _milliseconds(seconds["redraw"])[0]
    plots = "144 plot widgets, 128 tokens: redraw"
    figures.append(Figure(f"{plots}: median", median, "ms", 1 / ratio, "the heads map"))
    figures.append(Figure(f"{plots}: p95", percentile, "ms"))
    figures.append(Figure("144 plot widgets: build", 1000 * measured["build"], "ms"))
    return figures


def _milliseconds(seconds: list[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    times = [1000 * one for one in seconds]
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]
