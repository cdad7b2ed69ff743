"""Measured heads, kept for each model file: what was measured once is there at the next start.

A file in the folder `heads` of the settings is named after the SHA-256 of the model file. Its first
line says what was asked, the others are one head each, as `transformer-viz heads --json` gives it;
so that no line keeps the interpreter for long. What comes with the program is named in the same way
and is the whole JSON, compressed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.bundled import read_bundled
from core.errors import UserError
from core.files import atomic_write_text, drop_oldest
from core.statistics.registry import IMPORTANCE
from transformer_viz.heads.report import (
    Report,
    alignment_values,
    read_alignments,
    read_head,
    read_heads,
)
from transformer_viz.state.checks import record

FORMAT = 1
MOST_FILES = 30
GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True)
class Question:
    """What heads are measured on.

    Attributes:
        corpus: "grammar", a table of pairs, "SOURCE,TARGET" or a text, as the command takes it.
    """

    corpus: str = GRAMMAR
    sentences: int = 1_000
    importance: bool = False

    def arguments(self, model: Path) -> list[str]:
        """The command that answers it."""
        words = ["heads", "--model", str(model), "--corpus", self.corpus]
        words += ["--sentences", str(self.sentences)]
        return [*words, *(["--importance"] if self.importance else []), "--json"]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A stored result; ``day`` is the day on which it was measured, for example 2026-11-30, and ""
    for what comes with the program."""

    question: Question
    day: str
    report: Report


class Store:
    def __init__(self, folder: Path | None, bundled: Path | None = None) -> None:
        """Keep results in `folder`, or none with None; `bundled` is the folder of what comes with
        the program."""
        self._folder = folder
        self._bundled = bundled

    def read(self, checksum: str) -> Measured | None:
        """Return the result, or None if there is none that this version can read."""
        return self._read_kept(checksum) or self._read_bundled(checksum)

    def _read_kept(self, checksum: str) -> Measured | None:
        if self._folder is None:
            return None
        try:
            first, *rest = self._path(checksum).read_text(encoding="utf-8").splitlines()
            about = json.loads(first)
            if about["format"] != FORMAT:
                return None
            heads = [read_head(json.loads(line)) for line in rest]
            question = _check_question(about["question"])
            alignments = read_alignments(about.get("alignment", []))
            report = Report({each.head: each for each in heads}, alignments)
            return Measured(question, str(about["day"]), report)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _read_bundled(self, checksum: str) -> Measured | None:
        """As `resources/heads/README.md` says how it is made."""
        text = read_bundled(self._bundled, checksum)
        if text is None:
            return None
        heads = {each.head: each for each in map(read_head, read_heads(text))}
        report = Report(heads, read_alignments(alignment_values(text)))
        return Measured(Question(importance=IMPORTANCE.id in report.statistics), "", report)

    def write(
        self, checksum: str, measured: Measured, heads: Sequence[Any], alignment: Sequence[Any]
    ) -> None:
        """Store `heads` and `alignment` as in the JSON. What cannot be written is measured
        again."""
        if self._folder is None:
            return
        question = asdict(measured.question)
        about = {"format": FORMAT, "day": measured.day, "question": question}
        about |= {"alignment": alignment}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = "".join(json.dumps(line) + "\n" for line in (about, *heads))
            atomic_write_text(self._path(checksum), text)
            drop_oldest(self._folder, "*.jsonl", keep=MOST_FILES)
        except (OSError, UserError):
            return

    def _path(self, checksum: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{checksum}.jsonl"


_check_question = record(Question)
