"""The report of `transformer-viz info --speed`: how fast each kernel is, and which are used."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import torch

from core.counted import counted
from core.model.kernels import PRESENT
from core.model.measuring import Kept, best_choice, measured
from core.model.processor import processor
from core.model.product_choice import AUTO, VARIABLE, wished
from core.model.timings import TIMED_ROWS, Table, Timings

PATIENCE = 5.0
"""Seconds allowed for measuring what is not known yet."""


def report(*, as_json: bool) -> str:
    """Return the report as text or as one JSON object, measuring first what was not measured yet.

    Raises:
        UserError: the environment asks for a kernel that is not available.
    """
    limit = torch.get_num_threads()
    kept = Kept.of_this_machine(limit)
    timings = kept.read()
    deadline = time.monotonic() + PATIENCE
    while not timings.complete and (rest := deadline - time.monotonic()) > 0:
        timings = measured(timings, limit, rest)
        kept.write(timings)
    choice = best_choice(measures=False)
    if as_json:
        about = {
            "processor": processor(),
            "torch": torch.__version__,
            "kernels": list(PRESENT),
            "forced": None if wished() == AUTO else wished(),
            "products": choice.to_dict(),
            "seconds": timings.to_dict(),
            "file": str(kept.path),
        }
        return json.dumps(about, indent=2)
    lines = [
        f"{processor()}, torch {torch.__version__}, up to {counted(limit, 'thread')}",
        f"in use: {choice.summary()}",
        f"threads: {choice.training_threads or limit} in training, "
        f"{choice.threads or limit} otherwise",
    ]
    if wished() != AUTO:
        lines.append(f"chosen by {VARIABLE}={wished()}")
    if not timings.complete:
        lines.append(
            "Other programs kept the machine too busy to confirm the timings that are missing. "
            "They are measured again the next time; until then, what is named above is used."
        )
    lines += ["", *_timings(timings), "", f"saved in {kept.path}"]
    return "\n".join(lines)


def _timings(timings: Timings) -> Iterator[str]:
    """Yield the milliseconds of a product, one line for each size of W and number of rows."""
    yield f"{'milliseconds':<24}" + "".join(f"{name:>15}" for name in PRESENT)
    for title, table, rows in (
        ("256 → 1024", timings.small, TIMED_ROWS["small"]),
        ("512 → 2048", timings.large, TIMED_ROWS["large"]),
        ("256 → 1024, training", timings.training, TIMED_ROWS["training"]),
    ):
        yield from _rows(title, table, rows)


def _rows(title: str, table: Table, rows: tuple[int, ...]) -> Iterator[str]:
    for count, seconds in zip(rows, table, strict=False):
        cells = (f"{1000 * seconds[name]:.3f}" if name in seconds else "–" for name in PRESENT)
        label = f"{title}, {counted(count, 'row')}"
        yield f"{label:<24}" + "".join(f"{cell:>15}" for cell in cells)
