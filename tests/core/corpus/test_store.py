from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.corpus.read_report import Found
from core.corpus.store import PairStore
from core.errors import UserError

MADE_OF = {"text": "abc", "max_length": 9}
SOURCES = [[1, 2, 3], [4], [5, 6]]
TARGETS = [[7], [8, 9], [10]]


def opened(folder: Path, vocab_size: int = 100, **changes: int) -> PairStore:
    return PairStore(folder, MADE_OF | changes, vocab_size)


def stored(store: PairStore) -> tuple[list[list[int]], list[list[int]]]:
    source, target = (
        [side[index].tolist() for index in range(len(side))] for side in store.pairs()
    )
    return source, target


def half(folder: Path) -> PairStore:
    store = opened(folder)
    store.append(SOURCES[:2], TARGETS[:2], read=3)
    return store


@pytest.mark.parametrize(("vocab_size", "dtype"), [(1 << 16, np.uint16), (1 + (1 << 16), np.int32)])
def test_what_was_appended_comes_back_as_memory_maps(
    tmp_path: Path, vocab_size: int, dtype: type[np.generic]
) -> None:
    store = opened(tmp_path / "data", vocab_size)
    largest = vocab_size - 1
    store.append([[1, largest]], [[largest]], read=1)
    store.append(SOURCES, TARGETS, read=5)
    store.finish()
    again = opened(tmp_path / "data", vocab_size)
    assert again.progress == store.progress
    assert (again.progress.read, again.progress.kept, again.progress.complete) == (6, 4, True)
    assert stored(again) == ([[1, largest], *SOURCES], [[largest], *TARGETS])
    source, _ = again.pairs()
    assert source.segments[0].dtype == dtype
    assert isinstance(source.segments[0].base, np.memmap)
    assert source.lengths.tolist() == [2, 3, 1, 2]
    ids = np.fromfile(tmp_path / "data" / "source.ids", source.segments[0].dtype)
    assert ids.tolist() == [1, largest, 1, 2, 3, 4, 5, 6]


def test_an_interrupted_store_goes_on_after_its_last_chunk(tmp_path: Path) -> None:
    half(tmp_path)
    for path in tmp_path.iterdir():  # part of a chunk that was not finished
        if path.suffix != ".json":
            path.write_bytes(path.read_bytes() + b"\x01\x02\x03" * 50)
    store = opened(tmp_path)
    assert (store.progress.read, store.progress.kept, store.progress.complete) == (3, 2, False)
    store.append(SOURCES[2:], TARGETS[2:], read=1)
    store.finish()
    assert stored(opened(tmp_path)) == (SOURCES, TARGETS)
    assert (tmp_path / "source.ids").stat().st_size == 12


def test_left_out_lines_are_remembered(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.progress.left_out["a.tsv"] = Found(1, [5])
    store.append(SOURCES, TARGETS, read=4)
    assert opened(tmp_path).progress.left_out == {"a.tsv": Found(1, [5])}


def test_a_store_without_pairs(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.finish()
    assert stored(store) == stored(opened(tmp_path)) == ([], [])


def test_a_store_of_something_else_is_begun_anew(tmp_path: Path) -> None:
    half(tmp_path)
    for other in (opened(tmp_path, max_length=8), opened(tmp_path, vocab_size=1 << 17)):
        assert other.progress.read == 0
    other.append(TARGETS, SOURCES, read=3)
    assert stored(other) == (TARGETS, SOURCES)
    assert opened(tmp_path).progress.read == 0


@pytest.mark.parametrize("name", ["source.ids", "target.offsets", "store.json"])
def test_a_damaged_store_is_begun_anew(tmp_path: Path, name: str) -> None:
    half(tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-2])
    assert opened(tmp_path).progress.read == 0
    path.unlink()
    assert opened(tmp_path).progress.read == 0


@pytest.mark.parametrize("name", ["source.ids", "target.ids", "source.offsets", "target.offsets"])
def test_a_store_that_changed_on_the_disk_is_begun_anew(tmp_path: Path, name: str) -> None:
    """After chunks of pairs, without any, and of which the last was interrupted."""
    store = opened(tmp_path)
    store.append([], [], read=2)
    store.append(SOURCES[:2], TARGETS[:2], read=2)
    store.append([], [], read=1)
    assert opened(tmp_path).progress == store.progress
    again = opened(tmp_path)
    again.append(SOURCES[2:], TARGETS[2:], read=1)
    again.finish()
    assert stored(opened(tmp_path)) == (SOURCES, TARGETS)
    path = tmp_path / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert opened(tmp_path).progress.kept == 0


@pytest.mark.parametrize("text", ["[]", "null", '{"progress": 3}', "{}"])
def test_a_record_of_another_form_is_begun_anew(tmp_path: Path, text: str) -> None:
    half(tmp_path)
    (tmp_path / "store.json").write_text(text, encoding="utf-8")
    assert opened(tmp_path).progress.kept == 0
    record = {"progress": {"kept": "x"}}
    about = json.loads(text) if text.startswith("{") else {}
    (tmp_path / "store.json").write_text(json.dumps({**about, **record}), encoding="utf-8")
    assert opened(tmp_path).progress.kept == 0


def test_a_store_of_an_earlier_version_has_no_checksums_and_serves(tmp_path: Path) -> None:
    half(tmp_path)
    record = json.loads((tmp_path / "store.json").read_text(encoding="utf-8"))
    del record["progress"]["checksums"]
    (tmp_path / "store.json").write_text(json.dumps(record), encoding="utf-8")
    store = opened(tmp_path)
    assert store.progress.kept == 2
    store.append(SOURCES[2:], TARGETS[2:], read=1)
    assert stored(opened(tmp_path)) == (SOURCES, TARGETS)


def test_the_record_says_how_to_read_the_files(tmp_path: Path) -> None:
    half(tmp_path)
    record = json.loads((tmp_path / "store.json").read_text())
    assert record["dtype"] == "<u2"
    assert record["progress"]["ids"] == {"source": 4, "target": 3}


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(UserError, match=r"Could not write .*data"):
        half(tmp_path / "data")
