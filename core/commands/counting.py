"""The progress of a long command, reported on stderr."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

BAR_CELLS = 20
SECONDS_BETWEEN_JSON = 0.2
SECONDS_BETWEEN_LINES = 15.0


class Counting:
    """A progress report: call it with the number of items done, out of ``total``.

    As JSON, each line is ``{"done", "total", "seconds_left"}``. For people, it is a bar that is
    redrawn in place on a terminal, and an occasional line elsewhere.
    """

    def __init__(
        self,
        total: int | None,
        stream: TextIO,
        *,
        as_json: bool,
        begin: int = 0,
        show: Callable[[int], str] = "{:,}".format,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            total: None if it is unknown; ``end`` then marks the end.
            begin: how many were done before this began.
            show: formats a number for people.
        """
        self._total = total
        self._stream = stream
        self._as_json = as_json
        self._redrawn = stream.isatty() and not as_json
        self._begin = begin
        self._show = show
        self._clock = clock
        self._began = self._told = clock()

    def __call__(self, done: int) -> None:
        now = self._clock()
        finished = self._total is not None and done >= self._total
        if not finished and now - self._told < self._seconds_between():
            return
        self._told = now
        if self._as_json:
            left = self._seconds_left(done)
            line = {"done": done, "total": self._total, "seconds_left": left}
            self._write(json.dumps(line) + "\n")
        elif finished:
            self.end()
        elif self._redrawn:
            width = shutil.get_terminal_size().columns - 1
            text = "\r" + self._bar(done)[:width] + "\x1b[K"
            self._write(text)
        else:
            self._write(self._bar(done) + "\n")

    def end(self) -> None:
        """Remove the bar."""
        if self._redrawn:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # nobody reads it, and the work goes on
            self._stream.write(text)
            self._stream.flush()

    def _seconds_between(self) -> float:
        short = self._as_json or self._redrawn
        return SECONDS_BETWEEN_JSON if short else SECONDS_BETWEEN_LINES

    def _seconds_left(self, done: int) -> float | None:
        if self._total is None or done <= self._begin:
            return None
        return (self._total - done) * (self._told - self._began) / (done - self._begin)

    def _bar(self, done: int) -> str:
        if self._total is None:
            return self._show(done)
        filled = round(done / self._total * BAR_CELLS)
        bar = "█" * filled + "░" * (BAR_CELLS - filled)
        left = self._seconds_left(done)
        time_left = "" if left is None else f"  {left:,.0f} s left"
        return f"{bar} {self._show(done)}/{self._show(self._total)}{time_left}"
