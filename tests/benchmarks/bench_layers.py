"""One training step of layers that compete with attention, beside torch's LSTM and full attention.

The map of all heads at n = 8,192 takes 2 GiB; torch's fused attention never holds it, so that a
window of 65 has nothing to save against that in memory, and is compared with both.
"""

from __future__ import annotations

import json

from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure


def run() -> list[Figure]:
    measured = json.loads(output_of("layers_child"))
    lstm, full, window = (measured[name] for name in ("lstm", "full", "window"))
    lines = [
        Figure(
            f"{title}: train, n = 512, d = 256",
            1e3 * measured[name],
            "ms",
            lstm / measured[name],
            "torch's LSTM",
            ">= 0.33",
        )
        for name, title in (("s4d", "S4D"), ("mamba", "Mamba"))
    ]
    megabytes = measured["window_bytes"] / 1e6
    return [
        *lines,
        Figure(
            "Longformer: train, n = 8,192", 1e3 * window, "ms", full / window, "attention", ">= 4"
        ),
        Figure(
            "Longformer: memory, n = 8,192",
            megabytes,
            "MB",
            measured["map_bytes"] / measured["window_bytes"],
            "one full map",
            ">= 8",
        ),
        Figure(
            "Longformer: memory, n = 8,192",
            megabytes,
            "MB",
            measured["full_bytes"] / measured["window_bytes"],
            "fused attention",
        ),
    ]
