"""What `transformer-viz info --speed` prints: how fast each kernel is here, and which are used."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import torch

from core.model.kernels import PRESENT
from core.model.measuring import Kept, best_choice, measured
from core.model.processor import processor
from core.model.product_choice import AUTO, ROWS, VARIABLE, wished
from core.model.timings import Table, Timings

PATIENCE = 2.0
"""Seconds for measuring what is not known yet."""


def report(*, as_json: bool) -> str:
    """Text, or one JSON object. What was not measured before is measured now, at leisure.

    Raises:
        UserError: the environment asks for a kernel that is not there.
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
        f"{processor()}, torch {torch.__version__}, up to {limit} thread{'s' * (limit != 1)}",
        f"in use: {choice.summary()}",
        f"threads: {choice.training_threads or limit} in training, {choice.threads or limit} else",
    ]
    if wished() != AUTO:
        lines.append(f"{VARIABLE}={wished()} asks for it.")
    if not timings.complete:
        lines.append("Other programs kept the machine busy: measured only in part; ask again.")
    lines += ["", *_timings(timings), "", f"kept in {kept.path}"]
    return "\n".join(lines)


def _timings(timings: Timings) -> Iterator[str]:
    """Milliseconds of a product, a line for each size of W and number of rows."""
    yield f"{'milliseconds':<24}" + "".join(f"{name:>15}" for name in PRESENT)
    for title, table, rows in (
        ("256 → 1024", timings.small, ROWS),
        ("512 → 2048", timings.large, ROWS),
        ("256 → 1024, training", timings.training, (128,)),
    ):
        yield from _rows(title, table or [], rows)


def _rows(title: str, table: Table, rows: tuple[int, ...]) -> Iterator[str]:
    for count, seconds in zip(rows, table, strict=False):
        cells = (f"{1000 * seconds[name]:.3f}" if name in seconds else "–" for name in PRESENT)
        yield f"{f'{title}, {count} rows':<24}" + "".join(f"{cell:>15}" for cell in cells)
