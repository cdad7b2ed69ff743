"""A text of 2 000 tokens with a translation of 2 000: recorded, then one head's map."""

from __future__ import annotations

import json
import subprocess
import sys

from core.bundled import bundled_models
from tests.benchmarks.figure import Figure, UnavailableError


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    if sys.platform == "win32":
        raise UnavailableError("Windows does not say how much memory a process needed")
    command = [sys.executable, "-m", "tests.benchmarks.long_child"]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    measured = json.loads(output)
    return [
        Figure("2 000 tokens: record", measured["record_seconds"], "s"),
        Figure("2 000 tokens: one map", measured["map_milliseconds"], "ms"),
        Figure("2 000 tokens: peak memory", measured["megabytes"], "MB", target="< 1000"),
    ]
