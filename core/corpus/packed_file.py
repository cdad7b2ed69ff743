"""A file that may be compressed, streamed, so that no size of it fills the memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import UserError

# What files begin with.
_GZIP, _BZIP2, _XZ, _ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"
_NOT_READ = {b"7z\xbc\xaf": "a 7z archive", b"Rar!": "a RAR archive", b"\x28\xb5\x2f\xfd": "zstd"}
_BZIP2_BLOCK = b"1AY&SY"  # after BZh and a digit
_BUFFER = 1 << 18
_XZ_MEMORY = 1 << 28  # bytes that unpacking may take; xz -9 asks for 65 MiB
_ASIDE = ("readme", "license", "licence", "_about", "__macosx")
_NAMED = 4


class PackedFile:
    """A file whose bytes are read once, unpacked if gzip, bzip2, xz or zip made it.

    Attributes:
        size: bytes of the file on disk.
    """

    def __init__(self, path: Path) -> None:
        """Raises UserError if the file cannot be opened."""
        self.path = path
        try:
            self._file = io.BufferedReader(io.FileIO(path), _BUFFER)
            status = os.fstat(self._file.fileno())
        except OSError as error:
            raise self._failure(error) from error
        self.size = status.st_size
        if stat.S_ISBLK(status.st_mode) or (
            stat.S_ISCHR(status.st_mode) and not self._file.isatty()
        ):
            self._file.close()
            raise UserError(f"{path} is a device, not a file.")  # such as /dev/zero, without end

    @property
    def position(self) -> int:
        """The number of bytes of the file on disk that have been read."""
        return 0 if self._file.closed else self._file.tell()

    @contextmanager
    def unpacked(self) -> Iterator[io.BufferedReader[Any]]:
        """What the file holds, closed afterwards; raises UserError if reading fails within."""
        with self._file:
            try:
                yield self._reader()
            except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
                raise self._failure(error) from error

    def _reader(self) -> io.BufferedReader[Any]:
        head = self._file.peek(10)[:10]
        for begin, what in _NOT_READ.items():
            if head.startswith(begin):
                raise UserError(
                    f"{self.path} is {what}, which cannot be read directly; unpack it first."
                )
        inner: Any
        if head.startswith(_GZIP):
            inner = gzip.GzipFile(fileobj=self._file)
        elif head.startswith(_BZIP2) and head[4:10] == _BZIP2_BLOCK:
            inner = bz2.BZ2File(self._file)
        elif head.startswith(_XZ):
            inner = _Xz(self._file)
        elif head.startswith(_ZIP):
            inner = self._only_member()
        else:
            return self._file
        return io.BufferedReader(inner, _BUFFER)

    def _only_member(self) -> Any:
        archive = zipfile.ZipFile(self._file)
        every = [info for info in archive.infolist() if not info.is_dir()]
        if any(one.filename == "[Content_Types].xml" for one in every):
            raise UserError(
                f"{self.path} is an Office document; save it as tab-separated text in UTF-8."
            )
        names = [
            one.filename
            for one in every
            if not one.filename.rpartition("/")[2].lower().startswith(_ASIDE)
            and not one.filename.lower().startswith(_ASIDE)
        ]
        if len(names) != 1:
            shown = ", ".join(names[:_NAMED]) + ", …" * (len(names) > _NAMED)
            raise UserError(
                f"{self.path} contains {len(names):,} files{f' ({shown})' if shown else ''}; "
                "unpack it and name the ones with the text."
            )
        try:
            return archive.open(names[0])
        except (RuntimeError, NotImplementedError) as error:  # a password; a rare method
            raise UserError(f"{self.path} cannot be unpacked here: {error}.") from error

    def _failure(self, error: Exception) -> UserError:
        reason = getattr(error, "strerror", None) or error
        return UserError(f"Could not read {self.path}: {reason}.")


class _Xz(io.RawIOBase):
    """The bytes of one or more xz streams; ``lzma.LZMAFile`` knows no limit of memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = self._next()

    def _next(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Raises EOFError if the file is cut off, LZMAError if it is damaged or needs too much."""
        while True:
            given = b""
            if self._stream.eof:
                given = self._stream.unused_data.lstrip(b"\0") or self._file.read(_BUFFER)
                if not given.strip(b"\0"):
                    return 0
                self._stream = self._next()
            elif self._stream.needs_input:
                given = self._file.read(_BUFFER)
                if not given:
                    raise EOFError("the compressed file is truncated")
            data = self._stream.decompress(given, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
