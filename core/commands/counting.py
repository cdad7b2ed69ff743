"""How far a pass over a corpus has come, told on stderr."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from typing import TextIO

BAR_CELLS = 20
SECONDS_BETWEEN_JSON = 0.2
SECONDS_BETWEEN_LINES = 15.0


class Counting:
    """Called with how many are done, of ``total``.

    As JSON each line is ``{"done", "total", "seconds_left"}``; for people it is a bar that is
    redrawn in place on a terminal, and now and then a line elsewhere.
    """

    def __init__(
        self,
        total: int,
        stream: TextIO,
        *,
        as_json: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._stream = stream
        self._as_json = as_json
        self._redrawn = stream.isatty() and not as_json
        self._clock = clock
        self._began = self._told = clock()

    def __call__(self, done: int) -> None:
        now = self._clock()
        finished = done >= self._total
        if not finished and now - self._told < self._seconds_between():
            return
        self._told = now
        left = (self._total - done) * (now - self._began) / done if done else None
        if self._as_json:
            line = {"done": done, "total": self._total, "seconds_left": left}
            print(json.dumps(line), file=self._stream, flush=True)
        elif self._redrawn:
            width = shutil.get_terminal_size().columns - 1
            text = "\r\x1b[K" if finished else "\r" + self._bar(done, left)[:width] + "\x1b[K"
            print(text, end="", file=self._stream, flush=True)
        elif not finished:
            print(self._bar(done, left), file=self._stream, flush=True)

    def _seconds_between(self) -> float:
        short = self._as_json or self._redrawn
        return SECONDS_BETWEEN_JSON if short else SECONDS_BETWEEN_LINES

    def _bar(self, done: int, left: float | None) -> str:
        filled = round(done / self._total * BAR_CELLS)
        bar = "█" * filled + "░" * (BAR_CELLS - filled)
        time_left = "" if left is None else f"  {left:,.0f} s left"
        return f"{bar} {done:,}/{self._total:,}{time_left}"
