"""The measuring of the heads over a corpus."""

from __future__ import annotations

from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from transformer_viz.engine.measuring import Measuring
from transformer_viz.heads.report import (
    Report,
    alignment_values,
    read_alignments,
    read_head,
    read_heads,
)
from transformer_viz.heads.store import Measured, Question, Store
from transformer_viz.state.session import Session


class HeadAnalysis(Measuring[Measured]):
    def __init__(
        self,
        session: Session,
        folder: Path | None,
        parent: QObject | None = None,
        *,
        bundled: Path | None = None,
    ) -> None:
        """Keep results in `folder`, or none with None; `bundled` is the folder of those that come
        with the program."""
        store = Store(folder, bundled)
        super().__init__(session, store.read, parent)
        self._store = store

    @property
    def measured(self) -> Measured | None:
        return self.known

    @property
    def report(self) -> Report | None:
        return None if self.known is None else self.known.report

    def measure(self, question: Question) -> None:
        self._start(question.arguments, partial(self._keep, question))

    def _keep(self, question: Question, text: str, checksum: str) -> Measured:
        heads = list(read_heads(text))
        alignment = alignment_values(text)
        report = Report(
            {each.head: each for each in map(read_head, heads)}, read_alignments(alignment)
        )
        found = Measured(question, date.today().isoformat(), report)
        self._store.write(checksum, found, heads, alignment)
        return found
