"""From switching a head off, or on, to the new translation in the window."""

from __future__ import annotations

import json
import statistics
import tempfile

from core.bundled import bundled_models
from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    with tempfile.TemporaryDirectory() as folder:
        output = output_of("gates_child", "--config-dir", folder)
    measured = json.loads(output)
    times = [1000 * seconds for seconds in measured["switches"]]
    name = f"head switched to translation and pictures, {measured['tokens']} tokens"
    return [
        Figure(f"{name}: median", statistics.median(times), "ms"),
        Figure(f"{name}: p95", statistics.quantiles(times, n=20)[-1], "ms", target="< 300"),
    ]
