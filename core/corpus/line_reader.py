"""The lines of a file as bytes, streamed; a compressed file reads like what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from core.corpus.encoding import wide_encoding
from core.corpus.packed_file import PackedFile
from core.errors import UserError

LONGEST_LINE = 1_000_000  # bytes; a file without line ends must not fill the memory
_HEAD = 64


class LineReader(PackedFile):
    """Iterates once over the lines of a file, without their \\n, which alone ends a line.

    None stands for a line of more than ``LONGEST_LINE`` bytes.

    Attributes:
        unfinished: whether the last line that was read has no \\n.
    """

    unfinished = False

    def __iter__(self) -> Iterator[bytes | None]:
        """Raises UserError if the file cannot be read to its end, or is UTF-16 or UTF-32."""
        with self.unpacked() as lines:
            if wide := wide_encoding(lines.peek(_HEAD)[:_HEAD]):
                raise UserError(
                    f"{self.path} is {wide}, like Excel's Unicode Text; save it as UTF-8 (iconv "
                    f"-f {wide} -t UTF-8)."
                )
            while line := lines.readline(LONGEST_LINE + 1):
                if line.endswith(b"\n"):
                    yield line[:-1]
                elif len(line) <= LONGEST_LINE:
                    self.unfinished = True
                    yield line
                else:
                    _skip_line(lines)
                    yield None


def _skip_line(lines: BinaryIO) -> None:
    while (rest := lines.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass
