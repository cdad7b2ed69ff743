"""What others ask of a run, through one small file in its folder.

Any process may write it, so a run that was started in a terminal can be paused from the window.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from core.files import atomic_write_text
from core.system import remove

Wish: TypeAlias = Literal["pause", "stop"]
POLL_SECONDS = 0.2


def write_wish(path: Path, wish: Wish | None) -> None:
    """Ask a run to pause or to stop, or with None take the request back; raises UserError if the
    file cannot be written."""
    if wish is None:
        remove(path)
    else:
        atomic_write_text(path, wish + "\n")


def read_wish(path: Path) -> Wish | None:
    """Read the request; None if there is no valid one. It is cheap enough for every update."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None  # absent, or just being replaced: it is read again after the next update
    return "pause" if text == "pause" else "stop" if text == "stop" else None
