"""The JSON lines of a file that another process appends to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.training.jsonl import parse_line
from core.training.lines import CHECKS

MOST_BYTES = 1 << 18
"""Read at a time, so that a long file is taken in over several polls and blocks none of them. A
line that is longer is none."""


class Lines:
    """Reads each complete line once, and a replaced file (as after resuming) from the start.

    Attributes:
        values: the lines that are of a run, as ``core.training.lines`` has them.
        odd: how many others there are.
        first_odd: the number of the first of those, counted from 1; 0 without any.
    """

    def __init__(self, path: Path) -> None:
        """Read from `path`, whose name ``core.training.lines`` knows."""
        self.path = path
        self._check = CHECKS[path.name]
        self._identity = (0, 0)
        self._forget()

    def read(self) -> bool:
        """Take in what is new; whether anything changed. A file that cannot be read is empty."""
        before = len(self.values), self.odd
        try:
            status = self.path.stat()
            identity = (status.st_dev, status.st_ino)
            replaced = identity != self._identity or status.st_size < self._offset
            if replaced:
                self._identity = identity
                self._forget()
            elif status.st_size == self._offset:
                return False
            with self.path.open("rb") as file:
                file.seek(self._offset)
                block = file.read(MOST_BYTES)
        except OSError:
            self._forget()
            return before != (0, 0)
        self._take(block)
        return replaced or before != (len(self.values), self.odd)

    def _forget(self) -> None:
        self._offset = self._count = 0
        self._too_long = False  # the line that is being read
        self.values: list[dict[str, Any]] = []
        self.odd = self.first_odd = 0

    def _take(self, block: bytes) -> None:
        *lines, unfinished = block.split(b"\n")
        for line in lines:
            self._offset += len(line) + 1
            self._count += 1
            value = None if self._too_long else parse_line(line, self._check)
            self._too_long = False
            if value is not None:
                self.values.append(value)
            else:
                self.odd += 1
                self.first_odd = self.first_odd or self._count
        if len(unfinished) == MOST_BYTES:
            self._offset += len(unfinished)
            self._too_long = True
