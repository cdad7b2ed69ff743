"""The costs of the kinds of layers, measured in a separate process, and kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.errors import UserError
from core.files import atomic_write_text, read_regular
from core.lab.report import LayersReport
from core.model.mixers.kinds import MixerShape
from transformer_viz.engine.child import Child
from transformer_viz.engine.measuring import UNREADABLE, Progress, read_progress

_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LayerChoice:
    """What is to be measured."""

    kinds: tuple[str, ...]
    shape: MixerShape
    longest: int
    causal: bool

    def arguments(self) -> list[str]:
        """Return the command that measures it."""
        shape = self.shape
        words = ["layers", "--json", "--kinds", *self.kinds, "--longest", str(self.longest)]
        for option, number in (
            ("--width", shape.d_model),
            ("--heads", shape.heads),
            ("--kernel", shape.kernel),
            ("--neighbours", shape.neighbours),
        ):
            words += [option, str(number)]
        return [*words, "--causal"] if self.causal else words


class LayerCosts(QObject):
    """Measures on request; the last result is kept in a file, and shown at the next start.

    Attributes:
        report: what is known; while measuring, the kinds that are complete.
        running: whether something is being measured.
        progress: of what runs; None while it starts, or while nothing runs.
        problem: why the last measuring gave nothing, in one sentence.
    """

    changed = Signal()  # the report
    stateChanged = Signal()  # running, progress or problem

    def __init__(self, file: Path | None, parent: QObject | None = None) -> None:
        """Keep the result in `file`, or with None only until the window is closed."""
        super().__init__(parent)
        self._file = file
        self._child = Child(self, parse=str)
        self.report = self._kept()
        self.running = False
        self.progress: Progress | None = None
        self.problem = ""
        self._child.progressed.connect(self._hear)
        self._child.finished.connect(self._finish)
        self._child.failed.connect(self._end)

    def measure(self, choice: LayerChoice) -> None:
        """Measure, in place of what is being measured."""
        self.running, self.progress, self.problem = True, None, ""
        self._child.run(choice.arguments())
        self.stateChanged.emit()

    def cancel(self) -> None:
        """Give up what runs; the kinds that are complete stay."""
        if self.running:
            self._child.cancel()
            self._end("")

    def _hear(self, line: str) -> None:
        progress = read_progress(line)
        if progress is not None:
            self.progress = progress
            self.stateChanged.emit()
        elif (report := _read(line)) is not None:
            self._know(report)

    def _finish(self, text: str | None) -> None:
        report = _read(text or "")
        self._end("" if report is not None else UNREADABLE)
        if report is not None:
            self._know(report)

    def _end(self, problem: str) -> None:
        self.running, self.progress, self.problem = False, None, problem
        self.stateChanged.emit()

    def _know(self, report: LayersReport) -> None:
        self.report = report
        if self._file is not None:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                atomic_write_text(self._file, report.to_json())
            except (OSError, UserError):
                pass  # it is measured again another time
        self.changed.emit()

    def _kept(self) -> LayersReport | None:
        try:
            return None if self._file is None else _read(_text(self._file))
        except (OSError, UserError):
            return None


def _text(file: Path) -> str:
    return read_regular(file, most=_MOST_BYTES).decode("utf-8", "replace")


def _read(text: str) -> LayersReport | None:
    try:
        return LayersReport.from_json(text)
    except ValueError:
        return None
