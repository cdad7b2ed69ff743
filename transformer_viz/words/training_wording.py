"""Figures of training in words that are quickly read."""

from __future__ import annotations

import math


def duration(seconds: float) -> str:
    """Format "40 s", "12 min", "3 h 20 min" or "5 d 4 h": two units at most."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def byte_size(count: int) -> str:
    """Format "1.2 GB", in decimal units."""
    return f"{_scaled(count)}B"


def quantity(count: int) -> str:
    """Format "63.1 M", "4.2 k" or "812"."""
    return _scaled(count).rstrip()


def _scaled(count: float) -> str:
    for unit in ("", "k", "M", "G", "T"):
        if count < 999.5 or unit == "T":
            break
        count /= 1000
    digits = 0 if not unit else max(0, 2 - int(math.log10(max(count, 1))))
    return f"{count:.{digits}f} {unit}"
