"""What the figures were taken on, and who else was using it."""

from __future__ import annotations

import os
import time
from datetime import date
from pathlib import Path

from core.model.processor import processor

SECONDS = 1.0
_QUIET = 0.1  # of the cores
_STATISTICS = Path("/proc/stat")


def machine() -> str:
    """Processor, cores and date, and how busy other programs keep the cores, over a second."""
    what = f"{processor()}, {os.cpu_count()} cores, {date.today().isoformat()}"
    if not _STATISTICS.exists():
        return f"{what}; how busy it is cannot be told here"
    return f"{what}; {busyness(_busy_share())}"


def busyness(share: float) -> str:
    """In words; ``share`` of the cores is used by other programs."""
    if share <= _QUIET:
        return f"quiet: others use {100 * share:.0f} % of the cores"
    return f"BUSY: others use {100 * share:.0f} % of the cores, so trust the ratios alone"


def _busy_share() -> float:
    busy, total = _ticks()
    time.sleep(SECONDS)
    later, after = _ticks()
    return (later - busy) / max(1, after - total)


def _ticks() -> tuple[int, int]:
    """Of all cores since the start: those in use, and all."""
    _, *texts = _STATISTICS.read_text(encoding="ascii").splitlines()[0].split()
    fields = [int(text) for text in texts]
    idle = fields[3] + fields[4]  # waiting for a disk is no use
    return sum(fields[:8]) - idle, sum(fields[:8])
