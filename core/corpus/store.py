"""Encoded pairs of sentences in files: appended chunk by chunk, read through memory maps.

source.ids, target.ids          all ids one after another, uint16 or int32
source.offsets, target.offsets  where each sentence begins among them, then where the last one ends
store.json                      what was encoded, and how far that has come

Numbers are little-endian, offsets int64. store.json is replaced when a chunk is on the disk, and
what lies in the files beyond its figures is overwritten when an interrupted work goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from core.corpus.ragged import Ragged
from core.corpus.read_report import Found
from core.errors import UserError
from core.files import atomic_write_text, is_file, write_problem

FORMAT = "transformer-viz-pairs"
FORMAT_VERSION = 1
SIDES = ("source", "target")
_OFFSET = np.dtype("<i8")
_BLOCK = 1 << 20  # bytes

Sentences = Sequence[Sequence[int]]


@dataclass(slots=True)
class Progress:
    """How far the encoding has come.

    Attributes:
        read: pairs of text that were encoded.
        kept: pairs that are stored.
        ids: stored ids of each side.
        left_out: for each file, the lines of pairs that were encoded and not kept.
        complete: nothing is left to encode.
        checksums: CRC-32 of what is stored, by file; none in stores of earlier versions.
    """

    read: int = 0
    kept: int = 0
    ids: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SIDES, 0))
    left_out: dict[str, Found] = field(default_factory=dict)
    complete: bool = False
    checksums: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Progress:
        left_out = {name: Found(**found) for name, found in values["left_out"].items()}
        return cls(**{**values, "left_out": left_out})


class PairStore:
    """The store in a folder; opened again, it goes on after the last chunk that was appended."""

    def __init__(self, folder: Path, made_of: Mapping[str, Any], vocab_size: int) -> None:
        """Prepare a store; nothing is written before ``append``.

        Args:
            made_of: what the ids depend on, as JSON values. A store that was made of something
                else counts as empty.
            vocab_size: all ids are below.
        """
        self.folder = folder
        self._record = folder / "store.json"
        self._id = np.dtype("<u2" if vocab_size <= 1 << 16 else "<i4")
        self._about = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "dtype": self._id.str,
            "made_of": dict(made_of),
        }
        self.progress = self._stored_progress()

    def append(self, sources: Sentences, targets: Sentences, *, read: int) -> None:
        """Add pairs; ``read`` pairs of text have been encoded for them.

        Raises:
            UserError: the files cannot be written; what was appended before stays.
        """
        progress = self.progress
        self._make_folder()
        for side, sentences in zip(SIDES, (sources, targets), strict=True):
            total = progress.ids[side]
            lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
            ends = total + np.cumsum(lengths)
            progress.ids[side] = int(ends[-1]) if len(ends) else total
            ids = np.fromiter(chain.from_iterable(sentences), self._id, progress.ids[side] - total)
            offsets = np.array([total, *ends], _OFFSET)
            _write_at(self._ids(side), total, ids)
            _write_at(self._offsets(side), progress.kept, offsets)
            self._sum_up(self._ids(side), ids)
            self._sum_up(self._offsets(side), offsets[1 if progress.kept else 0 :])
        progress.kept += len(sources)
        progress.read += read
        self._write_record()

    def finish(self) -> None:
        """Complete the store; nothing more will be appended."""
        if not self.progress.kept:
            self.append([], [], read=0)
        self.progress.complete = True
        self._write_record()

    def pairs(self) -> tuple[Ragged, Ragged]:
        """Return the source and target sentences that are stored."""
        source, target = (self._mapped(side) for side in SIDES)
        return source, target

    def _mapped(self, side: str) -> Ragged:
        ids = _map(self._ids(side), self._id, self.progress.ids[side])
        return Ragged((ids,), _map(self._offsets(side), _OFFSET, self.progress.kept + 1))

    def _stored_progress(self) -> Progress:
        try:
            values = json.loads(self._record.read_text(encoding="utf-8"))
            progress = values.pop("progress", None)
            if values != self._about:
                return Progress()
            found = Progress.from_dict(progress)
            return found if self._is_there(found) else Progress()
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return Progress()

    def _is_there(self, progress: Progress) -> bool:
        """Whether the files hold what the record says, as they were written."""
        sizes = {self._offsets(side): (progress.kept + 1) * _OFFSET.itemsize for side in SIDES}
        sizes |= {self._ids(side): progress.ids[side] * self._id.itemsize for side in SIDES}
        return all(
            is_file(path)
            and path.stat().st_size >= size
            and progress.checksums.get(path.name) in (None, _checksum(path, size))
            for path, size in sizes.items()
        )

    def _sum_up(self, path: Path, numbers: npt.NDArray[Any]) -> None:
        """Take what was added to a file into its checksum; not where earlier chunks have none."""
        checksums, first = self.progress.checksums, not self.progress.kept
        if first or path.name in checksums:
            before = 0 if first else checksums[path.name]
            checksums[path.name] = crc32(numbers.tobytes(), before)

    def _write_record(self) -> None:
        values = {**self._about, "progress": asdict(self.progress)}
        atomic_write_text(self._record, json.dumps(values, indent=2, ensure_ascii=False) + "\n")

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(write_problem(self.folder, error)) from error

    def _ids(self, side: str) -> Path:
        return self.folder / f"{side}.ids"

    def _offsets(self, side: str) -> Path:
        return self.folder / f"{side}.offsets"


def _write_at(path: Path, index: int, values: npt.NDArray[np.integer]) -> None:
    """Values from ``index`` on to the end of the file, which is on the disk afterwards."""
    try:
        path.touch()
        with path.open("rb+") as file:
            file.truncate(index * values.itemsize)
            file.seek(0, os.SEEK_END)
            file.write(values.tobytes())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(write_problem(path, error)) from error


def _checksum(path: Path, size: int) -> int:
    """CRC-32 of the first ``size`` bytes."""
    checksum = 0
    with path.open("rb") as file:
        while size > 0 and (block := file.read(min(size, _BLOCK))):
            checksum, size = crc32(block, checksum), size - len(block)
    return checksum


def _map(path: Path, dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    """The first ``count`` values as a plain array on a memory map; no file maps to no bytes."""
    if count == 0:
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r", shape=(count,)))
