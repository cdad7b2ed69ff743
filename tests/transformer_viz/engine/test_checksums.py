import hashlib
from pathlib import Path

import pytest

from transformer_viz.engine.checksums import checksum


def test_a_file_is_told_by_its_contents_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"weights")
    (tmp_path / "b").write_bytes(b"weights")
    assert checksum(tmp_path / "a") == checksum(tmp_path / "b")
    assert checksum(tmp_path / "a") == hashlib.sha256(b"weights").hexdigest()


def test_a_folder_is_told_by_its_files_and_their_names(tmp_path: Path) -> None:
    def folder(name: str, **files: bytes) -> Path:
        made = tmp_path / name
        (made / "more").mkdir(parents=True)
        for file, data in files.items():
            (made / file).write_bytes(data)
        return made

    first = checksum(folder("1", config=b"{}", model=b"w"))
    assert checksum(folder("2", model=b"w", config=b"{}")) == first
    assert checksum(folder("3", config=b"{}", model=b"v")) != first
    assert checksum(folder("4", config=b"{}", weights=b"w")) != first
    assert checksum(folder("5", config=b"w", model=b"{}")) != first


def test_what_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        checksum(tmp_path / "gone")
