"""What the processor is called."""

from __future__ import annotations

import platform
from itertools import takewhile
from pathlib import Path

_ABOUT = Path("/proc/cpuinfo")


def processor() -> str:
    """The name of the processor, with family and model where Linux tells them."""
    try:
        with _ABOUT.open(encoding="utf-8", errors="replace") as lines:
            first = list(takewhile(str.strip, lines))  # there is a paragraph for each core
    except OSError:
        first = []
    parts = (line.partition(":") for line in first)
    about = {key.strip(): value.strip() for key, _, value in parts}
    name = about.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in about and "model" in about:
        return f"{name}, family {about['cpu family']}, model {about['model']}"
    return name
