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
