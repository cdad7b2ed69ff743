"""Opening a model of OPUS-MT's size from a warm disk: its folder, and our file of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.checkpoints.native import save_checkpoint
from core.checkpoints.opening import open_model
from tests.benchmarks.child import output_of
from tests.benchmarks.figure import Figure, UnavailableError
from tests.benchmarks.opus import OPUS, save_folder


def run() -> list[Figure]:
    if not Path("/proc/self/status").exists():
        raise UnavailableError("only Linux says how much memory a process has now")
    with tempfile.TemporaryDirectory() as folder:
        return list(measure(Path(folder)))


def measure(folder: Path) -> Iterator[Figure]:
    """The disk is warm: the files have just been written, and are opened once before."""
    marian, ours = folder / "marian", folder / "model.safetensors"
    save_folder(OPUS, marian)
    checkpoint = open_model(marian)
    save_checkpoint(ours, checkpoint.model, checkpoint.tokenizer, checkpoint.provenance)
    for path, name in ((marian, "MarianMT folder"), (ours, "our file")):
        opened(path)
        measured = opened(path)
        title = f"open {measured['weights']:.0f} MB, {name}"
        yield Figure(title, measured["seconds"], "s", target="< 3")
        share = measured["megabytes"] / measured["weights"]
        yield Figure(f"{title}: peak memory by its weights", share, "", target="< 1.5")


def opened(path: Path) -> dict[str, Any]:
    output = output_of("opening_child", str(path))
    measured: dict[str, Any] = json.loads(output)
    return measured
