"""The JSON lines of a file that another process appends to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 18
"""Read at a time, so that a long file is taken in over several polls and blocks none of them."""


class Lines:
    """Every whole line once; a file that was replaced (a resumed run takes lines back) anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._identity = (0, 0)
        self.values: list[dict[str, Any]] = []

    def read(self) -> bool:
        """Take in what is new; whether ``values`` changed. A file that cannot be read is empty."""
        before = len(self.values)
        try:
            status = self._path.stat()
            identity = (status.st_dev, status.st_ino)
            replaced = identity != self._identity or status.st_size < self._offset
            if replaced:
                self._identity, self._offset, self.values = identity, 0, []
            elif status.st_size == self._offset:
                return False
            with self._path.open("rb") as file:
                file.seek(self._offset)
                lines = file.readlines(MOST_BYTES)
        except OSError:
            self._offset, self.values = 0, []
            return before > 0
        for line in lines:
            if not line.endswith(b"\n"):
                break  # its other half is still to come
            self._offset += len(line)
            try:
                value = json.loads(line)
            except ValueError:
                continue  # cut short by a crash, and written again after it
            if isinstance(value, dict):
                self.values.append(value)
        return replaced or len(self.values) != before
