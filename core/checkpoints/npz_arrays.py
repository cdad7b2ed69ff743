"""The arrays of an `.npz` file: shapes and types at once, numbers when they are asked for."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class Layout(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class NpzArrays:
    """To be used in a ``with`` statement.

    Attributes:
        layouts: shape and type of each array, whose bytes are all there.
    """

    def __init__(self, path: Path) -> None:
        """
        Raises:
            UserError: missing, unreadable, truncated or of another kind.
        """
        self.path = path
        with self._told():
            self._archive = zipfile.ZipFile(path)
            try:
                members = {_name(one): one for one in self._archive.infolist()}
                if len(members) < len(self._archive.infolist()):
                    raise ValueError("two arrays of one name")
                self._members = members
                self.layouts = {name: self._layout(one) for name, one in members.items()}
            except BaseException:
                self._archive.close()
                raise

    def __enter__(self) -> NpzArrays:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._archive.close()

    def read(self, name: str) -> NDArray[Any]:
        """
        Raises:
            UserError: the array is damaged.
        """
        with self._told(), self._archive.open(self._members[name]) as member:
            array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        return array

    def _layout(self, member: zipfile.ZipInfo) -> Layout:
        with self._archive.open(member) as file:
            layout = _read_layout(file)
            needed = file.tell() + math.prod(layout.shape) * layout.dtype.itemsize
        if needed != member.file_size:
            raise ValueError("more or fewer numbers than the shape says")
        return layout

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Failures as sentences."""
        try:
            yield
        except FileNotFoundError as error:
            raise UserError(f"{self.path} does not exist; check the name.") from error
        except PermissionError as error:
            raise UserError(f"{self.path} may not be read; change its permissions.") from error
        except OSError as error:
            raise UserError(f"Could not read {self.path}: {error.strerror or error}.") from error
        except MemoryError as error:
            raise UserError(f"{self.path} is too large for the memory here.") from error
        # What zipfile and NumPy raise for damaged, encrypted, pickled and other files.
        except (
            *(ValueError, KeyError, EOFError, RuntimeError, NotImplementedError, SyntaxError),
            *(zlib.error, zipfile.BadZipFile, zipfile.LargeZipFile, tokenize.TokenError),
        ) as error:
            raise UserError(
                f"{self.path} is no readable .npz file: it is damaged, cut off or of another kind."
            ) from error


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.removesuffix(".npy")


def _read_layout(file: IO[bytes]) -> Layout:
    version = np.lib.format.read_magic(file)
    shape, _fortran_order, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("pickled objects")
    return Layout(shape, dtype)
