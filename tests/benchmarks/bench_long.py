"""A text of 2 000 tokens with a translation of 2 000: recorded, then one head's map."""

from __future__ import annotations

import json
import sys

from core.bundled import bundled_models
from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError


def run() -> list[Figure]:
    if not bundled_models():
        raise UnavailableError("there is no bundled model")
    if sys.platform == "win32":
        raise UnavailableError("Windows does not say how much memory a process needed")
    output = output_of("long_child")
    measured = json.loads(output)
    return [
        Figure("2 000 tokens: record", measured["record_seconds"], "s"),
        Figure("2 000 tokens: one map", measured["map_milliseconds"], "ms"),
        Figure("2 000 tokens: peak memory", measured["megabytes"], "MB", target="< 1000"),
    ]
