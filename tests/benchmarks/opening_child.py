"""Opens the model argv[1] and prints seconds, and megabytes at most above those from before."""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from pathlib import Path

from core.checkpoints.opening import open_model
from tests.benchmarks.memory import peak_megabytes


def resident_megabytes() -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) / 1024


for module in ("core.checkpoints.native", "core.checkpoints.marian_folder"):
    importlib.import_module(module)  # so that loading the program is not measured
before = resident_megabytes()
start = time.perf_counter()
checkpoint = open_model(sys.argv[1])
seconds = time.perf_counter() - start
weights = 4 * checkpoint.model.parameter_count() / 1024**2
print(json.dumps({"seconds": seconds, "weights": weights, "megabytes": peak_megabytes() - before}))
