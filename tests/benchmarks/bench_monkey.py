"""Five minutes of clicks, keys, texts and files at random: that nothing raises, and what memory
grows to."""

from __future__ import annotations

import json
import sys
import tempfile

from core.bundled import bundled_models
from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError

SECONDS = 300
SEED = 1


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    if sys.platform != "linux":
        raise UnavailableError("only Linux says how much memory a process has now")
    with tempfile.TemporaryDirectory() as folder:
        output = output_of("monkey_child", str(SECONDS), str(SEED), folder)
    samples = [json.loads(line) for line in output.splitlines()]
    first, last = samples[1], samples[-1]
    name = f"monkey, {last['acts']:,} acts in {last['seconds'] / 60:.0f} min"
    since = f"grown since {first['seconds']:.0f} s"
    figures = [
        Figure(f"{name}: resident at the end", last["resident"], "MB", target="< 1000"),
        Figure(f"{name}: resident, {since}", last["resident"] - first["resident"], "MB"),
    ]
    if "in_use" in last:  # by the C library
        grown = last["in_use"] - first["in_use"]
        figures.append(Figure(f"{name}: in use, {since}", grown, "MB", target="< 60"))
    return figures
