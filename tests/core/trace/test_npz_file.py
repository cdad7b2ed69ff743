"""Arrays whose headers lie, and what is large once it is unpacked: refused before it is read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import UserError
from core.trace.npz import load_npz

TOKENS = np.array(["a", "b", "c"])
ROOM = 12 << 20  # bytes of zeros, some KB when packed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.npz"


def plain(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header(shape: tuple[int, ...], kind: str = "<f4") -> bytes:
    buffer = io.BytesIO()
    about = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, about)
    return buffer.getvalue()


def write(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)


@pytest.mark.parametrize(
    "maps",
    [
        header((10**6, 10**6, 3, 3)) + b"0" * 100,
        header((1, 1, 3, 3)) + b"0" * 100,
        header((2**62, 4, 3, 3)),
        header((-1, 1, 3, 3)),
        header((1, 1, 3, 3))[:-20],
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY\x01\x00\x08\x00{'descr'",
        b"\x93NUMPY\x01\x00\x02\x00((",
        b"",
        b"no array",
    ],
)
def test_an_array_that_is_none_is_named(path: Path, maps: bytes) -> None:
    write(path, source_tokens=plain(TOKENS), encoder_self=maps)
    with pytest.raises(UserError, match=r"encoder_self cannot be read; it is damaged"):
        load_npz(path)


def test_what_has_the_wrong_shape_is_never_unpacked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(np.lib.format, "read_array", None)
    zeros = header((1, 1, 3, ROOM // 12)) + bytes(ROOM)
    write(path, source_tokens=plain(TOKENS), encoder_self=zeros)
    with pytest.raises(UserError, match=r"encoder_self has shape \[1, 1, 3, 1048576\]; expected"):
        load_npz(path)
    many = header((ROOM // 4,), "<U1") + bytes(ROOM)
    write(path, source_tokens=many, encoder_self=plain(np.full((1, 1, 3, 3), 1 / 3)))
    with pytest.raises(UserError, match=r"expected \[layers, heads, 3145728, 3145728\]"):
        load_npz(path)


def test_an_array_that_is_too_large_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_array(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np.lib.format, "read_array", read_array)
    write(path, source_tokens=plain(TOKENS), encoder_self=plain(np.full((1, 1, 3, 3), 1 / 3)))
    with pytest.raises(UserError, match="source_tokens is too large for the memory"):
        load_npz(path)
