"""From a keystroke to the new picture, and what a text of about 2 000 tokens takes."""

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
    if sys.platform == "win32":
        raise UnavailableError("Windows does not say how much memory a process needed")
    with tempfile.TemporaryDirectory() as folder:
        output = output_of("window_child", "--config-dir", folder)
    typed, opened = map(json.loads, output.splitlines())
    times = [1000 * seconds for seconds in typed["keystrokes"]]
    percentile = statistics.quantiles(times, n=20)[-1]
    name = f"keystroke to picture, {typed['tokens']} tokens"
    long = f"{opened['tokens']:,} tokens in the window"
    return [
        Figure(f"{name}: median", statistics.median(times), "ms"),
        Figure(f"{name}: p95", percentile, "ms", target="< 150"),
        Figure(f"{long}: all drawn", opened["seconds"], "s"),
        Figure(f"{long}: longest turn of the event loop", 1000 * opened["longest_turn"], "ms"),
        Figure(f"{long}: peak memory", opened["megabytes"], "MB", target="< 1000"),
    ]
