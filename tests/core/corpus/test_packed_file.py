from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core.corpus.aligned import read_aligned, read_lines
from core.corpus.packed_file import PackedFile
from core.corpus.spec import is_translated
from core.errors import UserError

LINES = "".join(f"line {number}\tZeile {number}\n" for number in range(3_000)).encode()


def zipped(folder: Path, **files: bytes) -> Path:
    path = folder / "pairs.tsv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["gz", "bz2", "xz"])
def test_compressed_files_read_like_what_they_hold(tmp_path: Path, name: str) -> None:
    compress: dict[str, Callable[[bytes], bytes]]
    compress = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    path = tmp_path / f"pairs.tsv.{name}"
    half = len(LINES) // 2
    whole = compress[name](LINES[:half]) + compress[name](LINES[half:])  # two streams
    path.write_bytes(whole)
    assert is_translated(str(path))
    assert b"\n".join(line.encode() for line in read_lines(path)) + b"\n" == LINES
    path.write_bytes(compress[name](LINES)[:-200])
    with pytest.raises(UserError, match=f"Could not read .*{name}"):
        read_lines(path)


def test_an_archive_of_one_text(tmp_path: Path) -> None:
    path = zipped(tmp_path, **{"deu.txt": LINES, "_about.txt": b"CC BY", "README": b"x"})
    assert len(read_aligned(str(path)).pairs) == 3_000


def test_an_archive_of_several_is_refused_by_name(tmp_path: Path) -> None:
    path = zipped(tmp_path, **{"x.de-en.de": b"eins", "x.de-en.en": b"one"})
    with pytest.raises(
        UserError, match=r"contains 2 files \(x\.de-en\.de, x\.de-en\.en\); unpack it"
    ):
        read_aligned(str(path))
    with pytest.raises(UserError, match="Office document"):
        read_lines(zipped(tmp_path, **{"[Content_Types].xml": b"", "xl/workbook.xml": b""}))


def test_xz_that_asks_for_too_much_memory(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    path.write_bytes(lzma.compress(b"a\tb\n", filters=filters))
    with pytest.raises(UserError, match="Memory usage limit"):
        read_lines(path)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"7z\xbc\xaf\x27\x1c", "7z archive"),
        ("one\teins\n".encode("utf-16"), "UTF-16"),
        ("one\teins\n".encode("utf-16-le"), "UTF-16"),
        ("one\teins\n".encode("utf-32"), "UTF-32"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, data: bytes, named: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(data)
    for read in (lambda: read_aligned(str(path)), lambda: read_lines(path)):
        with pytest.raises(UserError, match=f"is .*{named}"):
            read()


def test_windows_1252_is_named_with_what_it_would_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"one\teins\n" + "the road\tdie Straße\n".encode("cp1252"))
    assert "in Windows-1252 (Latin-1) line 2 would read “Straße”" in (
        read_aligned(str(path)).report.summary()
    )
    with pytest.raises(UserError, match=r"line 2 is not UTF-8; .*“Straße”"):
        read_lines(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="only Unix has it")
def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(UserError, match="/dev/zero is a device, not a file"):
        PackedFile(Path("/dev/zero"))
