"""Times and memory of layers, each beside its peer in the same process, as one JSON object."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import torch

from core.lab.measuring import peak_bytes
from core.model.mixers.kinds import MixerShape, mixer_kind

_ROUNDS = 5
_LONG = 8192


def training(name: str, shape: MixerShape, n: int, *, causal: bool) -> Callable[[], None]:
    """Return the forward and backward pass of one row."""
    mixer = mixer_kind(name).build(shape, causal=causal)
    x = torch.randn(1, n, shape.d_model)
    return lambda: mixer(x).square().mean().backward()


def paired(*runs: Callable[[], None]) -> list[float]:
    """Return the shortest time of each, measured in turns."""
    for run in runs:
        run()
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(_ROUNDS):
        for own, run in zip(times, runs, strict=True):
            begun = time.perf_counter()
            run()
            own.append(time.perf_counter() - begun)
    return [min(own) for own in times]


def main() -> None:
    torch.set_num_threads(2)
    torch.manual_seed(0)
    shape = MixerShape(d_model=256, heads=8)
    names = ("lstm", "mamba", "s4d")
    seconds = paired(*(training(name, shape, 512, causal=True) for name in names))
    wide = MixerShape(d_model=256, heads=8, neighbours=65)
    long_names = ("attention", "longformer")
    long_runs = [training(name, wide, _LONG, causal=False) for name in long_names]
    full, window = paired(*long_runs)
    measured = dict(zip(names, seconds, strict=True)) | {
        "full": full,
        "window": window,
        "full_bytes": peak_bytes(long_runs[0]),
        "window_bytes": peak_bytes(long_runs[1]),
        "map_bytes": 4 * shape.heads * _LONG**2,
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
