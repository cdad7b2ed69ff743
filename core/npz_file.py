"""The arrays of an `.npz` file by their names: shape and type at once, numbers when asked for."""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.files import open_regular, read_problem

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_LONGEST_HEADER = 1 << 17  # bytes; NumPy itself refuses a tenth of it
_MOST_TEXT = 1 << 26  # bytes of one array, 16 million characters
# What zipfile and NumPy raise for damaged, encrypted, pickled and other files.
_DAMAGE = (
    *(ValueError, KeyError, EOFError, RuntimeError, SyntaxError, tokenize.TokenError),
    *(TypeError, OverflowError),  # sizes beyond any that NumPy knows
    *(zlib.error, zipfile.BadZipFile, zipfile.LargeZipFile),
)


class Layout(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@contextmanager
def open_npz(path: Path, what: str) -> Iterator[NpzArrays]:
    """
    Args:
        what: the file should be, for the error: "a trace".

    Raises:
        UserError: it cannot be read, is no `.npz`, or has two arrays of one name.
    """
    with open_regular(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except OSError as error:
            raise UserError(read_problem(path, error)) from error
        except _DAMAGE as error:
            raise UserError(f"{path} is not {what}: NumPy cannot read it as .npz.") from error
        with archive:
            yield NpzArrays(path, archive)


class NpzArrays:
    """
    Attributes:
        names: of the arrays that are there.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        """Raises UserError for two arrays of one name."""
        self._path = path
        self._archive = archive
        self._members = {one.filename.removesuffix(".npy"): one for one in archive.infolist()}
        self.names = frozenset(self._members)
        if len(self.names) < len(archive.infolist()):
            raise UserError(f"{path} has two arrays of one name; it is damaged.")

    def layout(self, name: str) -> Layout:
        """Return shape and type, as the array's header says and its size in the file confirms.

        Raises:
            UserError: it is damaged, or holds Python objects.
        """
        member = self._members[name]
        with self._told(name), self._archive.open(member) as file:
            start = io.BytesIO(file.read(_LONGEST_HEADER))
            shape, _fortran_order, dtype = _HEADERS[np.lib.format.read_magic(start)](start)
            data = math.prod(shape) * dtype.itemsize
            size = start.tell() + data
            if dtype.hasobject or min(shape, default=0) < 0:
                raise ValueError("Python objects, or an impossible shape")
            if size != member.file_size:
                raise ValueError("more or fewer numbers than the shape says")
            if dtype.kind in "US" and data > _MOST_TEXT:
                raise UserError(
                    f"{self._path}: the text in {name} takes {data:,} bytes; the limit is "
                    f"{_MOST_TEXT:,}."
                )
        return Layout(shape, dtype)

    def read(self, name: str) -> NDArray[Any]:
        """Raises UserError as ``layout`` does, or if it is too large for the memory."""
        self.layout(name)
        with self._told(name), self._archive.open(self._members[name]) as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(read_problem(self._path, error)) from error
        except MemoryError as error:
            raise UserError(
                f"{self._path}: {name} is too large for the memory of this machine."
            ) from error
        except _DAMAGE as error:
            raise UserError(
                f"{self._path}: {name} cannot be read; it is damaged, or holds Python objects in "
                "place of numbers or text."
            ) from error
