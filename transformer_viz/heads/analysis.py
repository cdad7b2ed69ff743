"""The measuring of the heads: what is known of the model shown, what runs, and how far it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from transformer_viz.checksums import checksum
from transformer_viz.heads.report import Report, read_head, read_heads
from transformer_viz.heads.store import Measured, Question, Store
from transformer_viz.session import ModelInfo, Session
from transformer_viz.training.child import Child
from transformer_viz.views.stream import Stream

UNREADABLE = "The answer of the process cannot be read; measure again."


@dataclass(frozen=True, slots=True)
class Progress:
    """``seconds_left`` is None while nobody can tell."""

    done: int
    total: int
    seconds_left: float | None

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class _Run:
    model: Path
    checksum: str
    question: Question


class HeadAnalysis(QObject):
    """Follows the model of the session. Measuring starts only when it is asked for, in a process
    of its own, and goes on for its model when another one is opened.

    Attributes:
        measured: what is known of the heads of the model shown; None if they were not measured.
        progress: of what runs; None while it is prepared, or while nothing runs.
        problem: why the last measuring gave nothing, in one sentence.
    """

    changed = Signal()  # what is measured
    stateChanged = Signal()  # running, ready, progress or problem

    def __init__(
        self, session: Session, folder: Path | None, parent: QObject | None = None
    ) -> None:
        """`folder`: where results are kept; None keeps none."""
        super().__init__(parent)
        self._session = session
        self._store = Store(folder)
        self._checksum = ""  # of the model shown; "" until it is known
        self._run: _Run | None = None
        self._child = Child(self, parse=str)
        self._looking, self._keeping = Stream(self), Stream(self)
        self.measured: Measured | None = None
        self.progress: Progress | None = None
        self.problem = ""
        self._looking.arrived.connect(self._on_looked)
        self._keeping.arrived.connect(self._on_kept)
        self._child.progressed.connect(self._on_progress)
        self._child.finished.connect(self._on_answer)
        self._child.failed.connect(self._end)
        session.modelChanged.connect(self._follow)
        self._follow(session.model)

    @property
    def report(self) -> Report | None:
        return None if self.measured is None else self.measured.report

    @property
    def running(self) -> Path | None:
        """The model whose heads are being measured."""
        return None if self._run is None else self._run.model

    @property
    def ready(self) -> bool:
        """Whether the heads of the model shown can be measured now."""
        return self._run is None and bool(self._checksum)

    def measure(self, question: Question) -> None:
        model = self._session.model
        if model is None or not self.ready:
            return
        self._run = _Run(model.path, self._checksum, question)
        self.progress, self.problem = None, ""
        self._child.run(question.arguments(model.path))
        self.stateChanged.emit()

    def cancel(self) -> None:
        """Give up what runs; what was known before stays."""
        if self._run is not None:
            self._child.cancel()
            self._keeping.stop()
            self._end()

    def _follow(self, model: ModelInfo | None) -> None:
        self._looking.stop()
        self._checksum = ""
        self._set_measured(None)
        if model is not None:
            self._looking.start(_look(model.path, self._store))
        self.stateChanged.emit()

    def _on_looked(self, found: tuple[str, Measured | None]) -> None:
        self._checksum, measured = found
        self._set_measured(measured)
        self.stateChanged.emit()

    def _on_progress(self, line: str) -> None:
        progress = read_progress(line)
        if progress is not None:
            self.progress = progress
            self.stateChanged.emit()

    def _on_answer(self, text: str | None) -> None:
        assert self._run is not None
        self._keeping.start(_keep(text or "", self._run, self._store))

    def _on_kept(self, kept: Measured | None) -> None:
        run = self._run
        assert run is not None
        self._end("" if kept is not None else UNREADABLE)
        if kept is not None and run.checksum == self._checksum:
            self._set_measured(kept)

    def _end(self, problem: str = "") -> None:
        self._run, self.progress, self.problem = None, None, problem
        self.stateChanged.emit()

    def _set_measured(self, measured: Measured | None) -> None:
        if measured is not self.measured:
            self.measured = measured
            self.changed.emit()


def read_progress(line: str) -> Progress | None:
    """From a line on stderr; None for lines that say something else."""
    try:
        value = json.loads(line)
        left = value.get("seconds_left")
        return Progress(
            int(value["done"]), int(value["total"]), None if left is None else float(left)
        )
    except (ValueError, AttributeError, KeyError, TypeError):
        return None


def _look(path: Path, store: Store) -> Iterator[tuple[str, Measured | None]]:
    try:
        found = checksum(path)
    except OSError:  # gone since it was opened
        return
    yield found, store.read(found)


def _keep(text: str, run: _Run, store: Store) -> Iterator[Measured | None]:
    try:
        heads = list(read_heads(text))
        measured = [read_head(each) for each in heads]
    except ValueError:
        yield None
        return
    found = Measured(
        run.question, date.today().isoformat(), Report({each.head: each for each in measured})
    )
    store.write(run.checksum, found, heads)
    yield found
