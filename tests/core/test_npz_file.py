from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from core.errors import UserError
from core.npz_file import Layout, open_npz


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arrays.npz"


def test_names_layouts_and_numbers(path: Path) -> None:
    np.savez_compressed(path, a=np.arange(6.0).reshape(2, 3), b=np.array("x"))
    with open_npz(path, "it") as file:
        assert file.names == {"a", "b"}
        assert file.layout("a") == Layout((2, 3), np.dtype("f8"))
        assert file.read("a").tolist() == [[0, 1, 2], [3, 4, 5]]
        assert file.layout("b").shape == ()


def test_two_arrays_of_one_name(path: Path) -> None:
    np.savez(path, a=np.zeros(2))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a", archive.read("a.npy"))
    with pytest.raises(UserError, match="two arrays of one name"), open_npz(path, "it"):
        pass


def test_what_the_file_should_be_is_named(path: Path) -> None:
    path.write_bytes(b"text")
    with pytest.raises(UserError, match="is not a trace: NumPy"), open_npz(path, "a trace"):
        pass


def header(path: Path, dtype: str, shape: str, data: int) -> None:
    """A file whose one array says this of itself, with so many zeros behind it."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        start = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        archive.writestr("a.npy", start + bytes(data))


def test_text_of_a_huge_type_is_refused_before_it_is_read(path: Path) -> None:
    size = 4 * 17_000_000
    header(path, "<U17000000", "(1,)", size)
    assert path.stat().st_size < size / 500
    with open_npz(path, "it") as file, pytest.raises(UserError, match="the limit is 67,108,864"):
        file.read("a")


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        *(("<f4", f"({size},)") for size in (2**31, 2**62, 2**63, 2**64, 10**400, -1, 1.5, "'x'")),
        *(("<f4", shape) for shape in ("(4611686018427387904, 4)", "5", "None", "(None,)")),
        *((f"<U{size}", "(1,)") for size in (2**29, 2**31, 2**62, 2**64)),
        *((kind, "(1,)") for kind in ("|O", "<f3", "x", "<V99999999999")),
    ],
)
def test_sizes_that_cannot_be(path: Path, dtype: str, shape: str) -> None:
    header(path, dtype, shape, 4)
    with open_npz(path, "it") as file, pytest.raises(UserError):
        file.read("a")


def test_a_header_without_end(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        start = b"\x93NUMPY\x02\x00" + (50_000_000).to_bytes(4, "little")
        archive.writestr("a.npy", start + b" " * 50_000_000)
    with open_npz(path, "it") as file, pytest.raises(UserError):
        file.read("a")
