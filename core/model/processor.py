"""What the processor is called."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """The name of the processor, with family and model where Linux tells them."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        first = ""
    parts = (line.partition(":") for line in first.splitlines())
    about = {key.strip(): value.strip() for key, _, value in parts}
    name = about.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in about and "model" in about:
        return f"{name}, family {about['cpu family']}, model {about['model']}"
    return name
