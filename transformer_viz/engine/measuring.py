"""What is measured over a corpus, in a process of its own: what is known, what runs, how far."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from transformer_viz.engine.checksums import checksum
from transformer_viz.engine.child import Child
from transformer_viz.engine.stream import Stream
from transformer_viz.state.session import ModelInfo, Session

UNREADABLE = "The process returned an unreadable answer; measure again."

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a measurement is; ``seconds_left`` is None while it is unknown."""

    done: int
    total: int
    seconds_left: float | None

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class _Run(Generic[Result]):
    model: Path
    checksum: str
    keep: Callable[[str, str], Result]


class Measuring(QObject, Generic[Result]):
    """Follows the model of the session. Measuring starts only on request, and goes on for its model
    when another one is opened.

    Attributes:
        known: of the model shown; None if it was not measured.
        progress: of what runs; None while it is prepared, or while nothing runs.
        problem: why the last measuring gave nothing, in one sentence.
    """

    changed = Signal()  # what is known
    stateChanged = Signal()  # running, ready, progress or problem

    def __init__(
        self,
        session: Session,
        look_up: Callable[[str], Result | None],
        parent: QObject | None = None,
    ) -> None:
        """Follow the session; `look_up` returns what is kept of a model file, by its SHA-256, and
        is called beside the event loop."""
        super().__init__(parent)
        self._session = session
        self._look_up = look_up
        self._checksum = ""  # of the model shown; "" until it is known
        self._run: _Run[Result] | None = None
        self._child = Child(self, parse=str, polite=True)
        self._looking, self._keeping = Stream(self), Stream(self)
        self.known: Result | None = None
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
    def running(self) -> Path | None:
        """The model that is being measured."""
        return None if self._run is None else self._run.model

    @property
    def ready(self) -> bool:
        """Whether the model shown can be measured now."""
        return self._run is None and bool(self._checksum)

    def cancel(self) -> None:
        """Give up what runs; what was known before stays."""
        if self._run is not None:
            self._child.cancel()
            self._keeping.stop()
            self._end()

    def _start(
        self, command: Callable[[Path], Sequence[str]], keep: Callable[[str, str], Result]
    ) -> None:
        """Measure the model shown, if that can be done now.

        Args:
            command: the arguments of `transformer-viz` for a model file.
            keep: reads what the command printed and keeps it for the model file of a SHA-256;
                called beside the event loop; raises ValueError for what cannot be read.
        """
        model = self._session.model
        if model is None or not self.ready:
            return
        self._run = _Run(model.path, self._checksum, keep)
        self.progress, self.problem = None, ""
        self._child.run(command(model.path))
        self.stateChanged.emit()

    def _follow(self, model: ModelInfo | None) -> None:
        self._looking.stop()
        self._checksum = ""
        self._know(None)
        if model is not None:
            self._looking.start(_look(model.path, self._look_up))
        self.stateChanged.emit()

    def _on_looked(self, found: tuple[str, Result | None]) -> None:
        self._checksum, known = found
        self._know(known)
        self.stateChanged.emit()

    def _on_progress(self, line: str) -> None:
        progress = read_progress(line)
        if progress is None:
            self._hear(line)
        else:
            self.progress = progress
            self.stateChanged.emit()

    def _hear(self, line: str) -> None:
        """What else the process says while it measures; nothing that this class makes use of."""

    def _on_answer(self, text: str | None) -> None:
        assert self._run is not None
        self._keeping.start(_keep(text or "", self._run))

    def _on_kept(self, kept: Result | None) -> None:
        for_shown = self._for_shown
        self._end("" if kept is not None else UNREADABLE)
        if kept is not None and for_shown:
            self._know(kept)

    def _end(self, problem: str = "") -> None:
        self._run, self.progress, self.problem = None, None, problem
        self.stateChanged.emit()

    @property
    def _for_shown(self) -> bool:
        """Whether what runs measures the model shown."""
        return self._run is not None and self._run.checksum == self._checksum

    def _know(self, known: Result | None) -> None:
        if known is not self.known:
            self.known = known
            self.changed.emit()


def read_progress(line: str) -> Progress | None:
    """Read progress from a line on stderr; None for lines that say something else."""
    try:
        value = json.loads(line)
        left = value.get("seconds_left")
        return Progress(
            int(value["done"]), int(value["total"]), None if left is None else float(left)
        )
    except (ValueError, AttributeError, KeyError, TypeError):
        return None


def _look(
    path: Path, look_up: Callable[[str], Result | None]
) -> Iterator[tuple[str, Result | None]]:
    try:
        found = checksum(path)
    except OSError:  # gone since it was opened
        return
    yield found, look_up(found)


def _keep(text: str, run: _Run[Result]) -> Iterator[Result | None]:
    try:
        yield run.keep(text, run.checksum)
    except ValueError:
        yield None
