"""A text of 4 096 tokens in the window, through a model of the paper's base shape."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile

from core.bundled import bundled_models
from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    if sys.platform != "linux":
        raise UnavailableError("only Linux says how much memory a process holds at a moment")
    with tempfile.TemporaryDirectory() as folder:
        output = output_of("explorer_child", folder)
    measured = json.loads(output)
    name = f"{measured['tokens']:,} tokens, 6 layers of 8 heads"
    switches = [1000 * seconds for seconds in measured["switches"]]
    scrolls = [1000 * seconds for seconds in measured["scrolls"]]
    every_map, recorded = measured["megabytes_of_every_map"], measured["megabytes_recorded"]
    return [
        Figure(f"{name}: opened, all drawn", measured["seconds"], "s"),
        Figure(f"{name}: another head drawn, median", statistics.median(switches), "ms"),
        Figure(f"{name}: a scrolled frame, median", statistics.median(scrolls), "ms"),
        Figure(
            f"{name}: recorded",
            recorded,
            "MB",
            ratio=every_map / recorded,
            peer=f"every encoder map, {every_map:,.0f} MB",
            target=">= 10",
        ),
        Figure(f"{name}: more memory held by the process", measured["megabytes"], "MB"),
        Figure(
            f"{name}: longest turn of the event loop",
            1000 * measured["longest_turn"],
            "ms",
            target="< 50",
        ),
    ]
