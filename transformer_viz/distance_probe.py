"""The probe of how far a model reaches: what is known of the model shown, what runs, how far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from transformer_viz.checksums import checksum
from transformer_viz.distance_report import DistanceReport, ReportStore, read_report
from transformer_viz.heads.analysis import Progress, read_progress
from transformer_viz.session import ModelInfo, Session
from transformer_viz.training.child import Child
from transformer_viz.views.stream import Stream

UNREADABLE = "The answer of the process cannot be read; measure again."


class DistanceProbe(QObject):
    """Follows the model of the session. Measuring starts only when it is asked for, in a process
    of its own, and goes on for its model when another one is opened.

    Attributes:
        report: of the model shown; None if it was not measured.
        progress: of what runs; None while it is prepared, or while nothing runs.
        problem: why the last measuring gave nothing, in one sentence.
    """

    changed = Signal()  # any of these, or `running` or `ready`

    def __init__(
        self, session: Session, folder: Path | None, parent: QObject | None = None
    ) -> None:
        """`folder`: where results are kept; None keeps them no longer than their model is shown."""
        super().__init__(parent)
        self._session = session
        self._store = ReportStore(folder)
        self._checksum = ""  # of the model shown; "" until it is known
        self._run: tuple[Path, str] | None = None  # the model that is measured, its checksum
        self._child = Child(self, parse=str)
        self._looking, self._reading = Stream(self), Stream(self)
        self.report: DistanceReport | None = None
        self.progress: Progress | None = None
        self.problem = ""
        self._looking.arrived.connect(self._on_looked)
        self._reading.arrived.connect(self._on_read)
        self._child.progressed.connect(self._on_progress)
        self._child.finished.connect(self._on_answer)
        self._child.failed.connect(self._end)
        session.modelChanged.connect(self._follow)
        self._follow(session.model)

    @property
    def running(self) -> Path | None:
        """The model that is being measured."""
        return None if self._run is None else self._run[0]

    @property
    def ready(self) -> bool:
        """Whether the model shown can be measured now."""
        return self._run is None and bool(self._checksum)

    def measure(self) -> None:
        model = self._session.model
        if model is None or not self.ready:
            return
        self._run = model.path, self._checksum
        self.progress, self.problem = None, ""
        self._child.run(["distance", "--model", str(model.path), "--json"])
        self.changed.emit()

    def cancel(self) -> None:
        """Give up what runs; what was known before stays."""
        if self._run is not None:
            self._child.cancel()
            self._reading.stop()
            self._end()

    def _follow(self, model: ModelInfo | None) -> None:
        self._looking.stop()
        self._checksum, self.report = "", None
        if model is not None:
            self._looking.start(_look(model.path, self._store))
        self.changed.emit()

    def _on_looked(self, found: tuple[str, DistanceReport | None]) -> None:
        self._checksum, self.report = found
        self.changed.emit()

    def _on_progress(self, line: str) -> None:
        progress = read_progress(line)
        if progress is not None:
            self.progress = progress
            self.changed.emit()

    def _on_answer(self, text: str | None) -> None:
        assert self._run is not None
        self._reading.start(_read(text or "", self._run[1], self._store))

    def _on_read(self, report: DistanceReport | None) -> None:
        assert self._run is not None
        measured = self._run[1]
        if report is not None and measured == self._checksum:
            self.report = report
        self._end("" if report is not None else UNREADABLE)

    def _end(self, problem: str = "") -> None:
        self._run, self.progress, self.problem = None, None, problem
        self.changed.emit()


def _look(path: Path, store: ReportStore) -> Iterator[tuple[str, DistanceReport | None]]:
    try:
        found = checksum(path)
    except OSError:  # gone since it was opened
        return
    yield found, store.read(found)


def _read(text: str, checksum: str, store: ReportStore) -> Iterator[DistanceReport | None]:
    try:
        report = read_report(text)
    except ValueError:
        yield None
        return
    store.write(checksum, text)
    yield report
