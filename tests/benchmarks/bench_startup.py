"""How long it takes from starting the process to a visible window, and to the first attention."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from core.bundled import bundled_models
from tests.benchmarks.figure import Figure, UnavailableError

RUNS = 5


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    runs = [milestones() for _ in range(RUNS)]
    visible = 1000 * statistics.median(run["visible"] for run in runs)
    attention = statistics.median(run["attention"] for run in runs)
    return [
        Figure("start to visible window", visible, "ms", target="< 1000"),
        Figure("start to first attention", attention, "s", target="< 5"),
    ]


def milestones() -> dict[str, float]:
    """Seconds from the start of the process to each milestone."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.benchmarks.startup_child"]
        command += ["--screenshot", str(Path(folder) / "window.png")]
        start = time.perf_counter()
        reached = {}
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
            assert process.stdout is not None
            for line in process.stdout:
                reached[line.strip()] = time.perf_counter() - start
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        return reached
