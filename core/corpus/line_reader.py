"""The lines of a file as bytes, streamed; a gzipped file reads like what it holds."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import UserError

LONGEST_LINE = 1_000_000  # bytes; a file without line ends must not fill the memory
_GZIP = b"\x1f\x8b"  # no UTF-8 text begins like this
_BUFFER = 1 << 18


class PackedFile:
    """A file whose bytes are read once, unpacked if it is gzipped.

    Attributes:
        size: bytes of the file on disk.
    """

    def __init__(self, path: Path) -> None:
        """Raises UserError if the file cannot be opened."""
        self.path = path
        try:
            self._file = io.BufferedReader(io.FileIO(path), _BUFFER)
            self.size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise self._failure(error) from error

    @property
    def position(self) -> int:
        """Bytes of the file on disk that have been read."""
        return 0 if self._file.closed else self._file.tell()

    @contextmanager
    def unpacked(self) -> Iterator[BinaryIO]:
        """What the file holds, closed afterwards; raises UserError if reading fails within."""
        with self._file:
            try:
                if self._file.peek(2)[:2] != _GZIP:
                    yield self._file
                else:
                    yield io.BufferedReader(gzip.GzipFile(fileobj=self._file), _BUFFER)
            except (OSError, EOFError, zlib.error) as error:
                raise self._failure(error) from error

    def _failure(self, error: Exception) -> UserError:
        reason = getattr(error, "strerror", None) or error
        return UserError(f"Could not read {self.path}: {reason}.")


class LineReader(PackedFile):
    """Iterates once over the lines of a file, without their \\n, which alone ends a line.

    None stands for a line of more than ``LONGEST_LINE`` bytes.
    """

    def __iter__(self) -> Iterator[bytes | None]:
        """Raises UserError if the file cannot be read to its end."""
        with self.unpacked() as lines:
            while line := lines.readline(LONGEST_LINE + 1):
                if line.endswith(b"\n"):
                    yield line[:-1]
                elif len(line) <= LONGEST_LINE:
                    yield line
                else:
                    _skip_line(lines)
                    yield None


def _skip_line(lines: BinaryIO) -> None:
    while (rest := lines.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass
