"""Measured heads, kept for each model file: what was measured once is there at the next start.

A file in the folder `heads` of the settings is named after the SHA-256 of the model file. Its first
line says what was asked, the others are one head each, as `transformer-viz heads --json` gives it;
so that no line keeps the interpreter for long.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.files import atomic_write_text
from transformer_viz.checks import record
from transformer_viz.heads.report import Report, read_head

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
    """``day``: on which it was measured, as in 2026-11-30."""

    question: Question
    day: str
    report: Report


class Store:
    def __init__(self, folder: Path | None) -> None:
        """`folder` None keeps nothing."""
        self._folder = folder

    def read(self, checksum: str) -> Measured | None:
        """None where there is nothing, or nothing that this version can read."""
        if self._folder is None:
            return None
        try:
            first, *rest = self._path(checksum).read_text(encoding="utf-8").splitlines()
            about = json.loads(first)
            if about["format"] != FORMAT:
                return None
            heads = [read_head(json.loads(line)) for line in rest]
            question = _check_question(about["question"])
            report = Report({each.head: each for each in heads})
            return Measured(question, str(about["day"]), report)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, checksum: str, measured: Measured, heads: Sequence[Any]) -> None:
        """`heads`: as in the JSON. What cannot be written is measured again another time."""
        if self._folder is None:
            return
        question = asdict(measured.question)
        about = {"format": FORMAT, "day": measured.day, "question": question}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = "".join(json.dumps(line) + "\n" for line in (about, *heads))
            atomic_write_text(self._path(checksum), text)
            self._drop_oldest()
        except (OSError, UserError):
            return

    def _path(self, checksum: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{checksum}.jsonl"

    def _drop_oldest(self) -> None:
        assert self._folder is not None
        files = sorted(self._folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
        for path in files[:-MOST_FILES]:
            path.unlink(missing_ok=True)


_check_question = record(Question)
