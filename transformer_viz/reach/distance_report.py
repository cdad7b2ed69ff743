"""What `transformer-viz distance --json` says of a model, and where it is kept.

A file in the folder `distance` of the settings is named after the SHA-256 of the model file; what
comes with the program too, compressed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.bundled import read_bundled
from core.errors import UserError
from core.files import atomic_write_text, drop_oldest
from core.trace.trace import AttentionKind, Head

MOST_FILES = 30

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """One dependency at each distance; shares of sentences, 0 to 1.

    Attributes:
        between: the mean number of German words between the two, at each distance.
        longest_trained: the most between the two in sentences of training.
        model: whether the later word was predicted.
        both: in both sentences of a minimal pair; None for dependencies without pairs.
        heads: whether each finds the word that is needed.
        baseline: of each kind of attention, the accuracy of the fixed-distance baseline.
    """

    name: str
    sentences: int
    between: Shares
    longest_trained: int
    model: Shares
    both: Shares | None
    heads: Mapping[Head, Shares]
    baseline: Mapping[AttentionKind, Shares]

    @property
    def ranked(self) -> tuple[Head, ...]:
        """The heads, best first: by their mean over the distances."""
        return tuple(sorted(self.heads, key=lambda head: (-sum(self.heads[head]), head)))


@dataclass(frozen=True, slots=True)
class DistanceReport:
    """The accuracy of a model and its heads by distance.

    Attributes:
        pushed_in: the distances, in inserted words.
        complete: whether these are all the dependencies that the command measures.
    """

    pushed_in: tuple[int, ...]
    relations: tuple[Relation, ...]
    complete: bool = True


def read_report(text: str) -> DistanceReport:
    """Read what the command prints; raises ValueError for anything else."""
    try:
        values = json.loads(text)
        report = DistanceReport(
            tuple(int(words) for words in values["pushed_in"]),
            tuple(_relation(one) for one in values["relations"]),
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("not the output of `transformer-viz distance`") from error
    lines = [
        line
        for one in report.relations
        for line in (one.between, one.model, *one.heads.values(), *one.baseline.values())
    ]
    if not report.relations or any(len(line) != len(report.pushed_in) for line in lines):
        raise ValueError("not as many values as distances")
    return report


def _relation(values: Any) -> Relation:
    both = values.get("both")
    return Relation(
        name=str(values["relation"]),
        sentences=int(values["sentences"]),
        between=_shares(values["between"]),
        longest_trained=int(values["longest_trained"]),
        model=_shares(values["model"]),
        both=None if both is None else _shares(both),
        heads={
            Head(AttentionKind(one["kind"]), int(one["layer"]), int(one["head"])): _shares(
                one["accuracy"]
            )
            for one in values["heads"]
        },
        baseline={AttentionKind(kind): _shares(line) for kind, line in values["baseline"].items()},
    )


def _shares(values: Any) -> Shares:
    return tuple(float(value) for value in values)


class ReportStore:
    """Stores the answers of the command unchanged."""

    def __init__(self, folder: Path | None, bundled: Path | None = None) -> None:
        """Keep reports in `folder`, or none with None; `bundled` is the folder of what comes with
        the program."""
        self._folder = folder
        self._bundled = bundled

    def read(self, checksum: str) -> DistanceReport | None:
        """Return the report, or None if there is none that this version can read."""
        return self._read_kept(checksum) or self._read_bundled(checksum)

    def _read_kept(self, checksum: str) -> DistanceReport | None:
        if self._folder is None:
            return None
        try:
            return read_report(self._path(checksum).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def _read_bundled(self, checksum: str) -> DistanceReport | None:
        """As `resources/distance/README.md` says how it is made."""
        text = read_bundled(self._bundled, checksum)
        return None if text is None else read_report(text)

    def write(self, checksum: str, text: str) -> None:
        """What cannot be written is measured again another time."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            atomic_write_text(self._path(checksum), text)
            drop_oldest(self._folder, "*.json", keep=MOST_FILES)
        except (OSError, UserError):
            return

    def _path(self, checksum: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{checksum}.json"
