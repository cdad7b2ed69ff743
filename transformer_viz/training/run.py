"""One training run as its folder tells it; it may be going on in any process, or in none."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from core.errors import UserError
from core.files import is_file
from core.training.config import RunConfig
from core.training.run_folder import RunFolder
from transformer_viz.engine.child import failure
from transformer_viz.training.lines import Lines

_PROBE = re.compile(r"step-(\d+)-(\d+)\.npz")  # step, sentence
STOPPING = "Saving the state; the run stops after this step."
LOG_BYTES = 20_000
SECONDS_TO_START = 60.0
"""In which a process that was started must have taken the run's lock, or said why not."""
RATE_LINES = 20
"""Logged steps whose speed is taken to be that of the rest of the run."""


class RunState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"
    FAILED = "failed"

    @property
    def alive(self) -> bool:
        """Whether a process works on it."""
        return self in (RunState.STARTING, RunState.RUNNING, RunState.PAUSED)


class Run(QObject):
    """Reads the run folder when it is polled, and says what has changed.

    ``metrics`` and ``samples`` are lists of JSON objects in the order of their steps, as
    docs/training.md describes them. After a resume they may be shorter than before.
    """

    changed = Signal()  # anything of what follows, or the name or the configuration
    stateChanged = Signal(object)  # RunState
    metricsChanged = Signal()
    samplesChanged = Signal()
    checkpointsChanged = Signal()
    probesChanged = Signal()

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Follow a run folder, ``path``. Nothing is read before the first ``poll``."""
        super().__init__(parent)
        self.path = path
        self.folder = RunFolder(path)
        self.config: RunConfig | None = None
        self.about: dict[str, Any] = {}
        self.message = ""
        self._problem = ""
        self._state = RunState.STOPPED
        self._launched: float | None = None
        self._heard = 0
        self._record = 0
        self._metrics = Lines(self.folder.metrics)
        self._samples = Lines(self.folder.samples)
        self._probes = Lines(self.folder.probe_log)
        self._events = Lines(self.folder.events)
        self._checkpoints: list[Path] = []
        self._best: list[Path] = []
        self._averages: list[Path] = []
        self._has_model = False
        self._probe_files: list[Path] = []

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def state(self) -> RunState:
        return self._state

    @property
    def metrics(self) -> Sequence[dict[str, Any]]:
        return self._metrics.values

    @property
    def samples(self) -> Sequence[dict[str, Any]]:
        return self._samples.values

    def series(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return steps and values of one metric, from the lines that have it."""
        points = [(line["step"], line[name]) for line in self.metrics if name in line]
        table = np.array(points, dtype=np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def last(self, name: str) -> float | None:
        """The newest value of a metric."""
        return next((line[name] for line in reversed(self.metrics) if name in line), None)

    def checkpoints(self) -> Sequence[Path]:
        """The checkpoints in the order of their steps."""
        return self._checkpoints

    def best_checkpoints(self) -> Sequence[Path]:
        """The best checkpoints in the order of their steps."""
        return self._best

    def averages(self) -> Sequence[Path]:
        """The models that the user had made from several checkpoints."""
        return self._averages

    def probes(self) -> Sequence[Path]:
        """The traces ``probes/step-000123-0.npz`` in the order of their steps, then sentences."""
        return self._probe_files

    @property
    def model(self) -> Path | None:
        """The averaged model, once the run has made it."""
        return self.folder.model if self._has_model else None

    @property
    def step(self) -> int:
        return int(self.metrics[-1]["step"]) if self.metrics else 0

    @property
    def steps(self) -> int:
        """The number of steps that the run is to take; 0 while it is unknown."""
        return 0 if self.config is None else self.config.training.steps

    @property
    def seconds_left(self) -> float | None:
        """The time left at the speed of the last logged steps, with as much for validations and
        checkpoints as they have taken of each step so far."""
        timed = [line for line in self.metrics[-2 * RATE_LINES :] if "seconds" in line]
        timed = timed[-RATE_LINES:]
        if len(timed) < 2 or timed[-1]["step"] <= timed[0]["step"]:
            return None
        seconds = timed[-1]["seconds"] - timed[0]["seconds"]
        rate = seconds / (timed[-1]["step"] - timed[0]["step"])
        rate += timed[-1].get("other_seconds", 0.0) / timed[-1]["step"]
        return float(rate * max(0, self.steps - timed[-1]["step"]))

    @property
    def started(self) -> dict[str, Any]:
        """What the process said when it began: parameters, device, vocabulary …, or nothing."""
        events = reversed(self._events.values)
        return next((event for event in events if event.get("event") == "started"), {})

    @property
    def odd_lines(self) -> list[str]:
        """A sentence for each file with lines that no run writes; they are left out."""
        files = (self._metrics, self._samples, self._probes, self._events)
        return [_odd_lines(lines) for lines in files if lines.odd]

    def log_end(self) -> str:
        """The last lines that the process wrote for people."""
        try:
            with self.folder.log_text.open("rb") as file:
                file.seek(max(0, self.folder.log_text.stat().st_size - LOG_BYTES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def expect(self) -> None:
        """A process has been started for it, and will soon be seen."""
        self._launched = time.monotonic()
        self._heard = len(self._events.values)
        self.poll()

    def poll(self) -> None:
        """Look at the folder; cheap where nothing has changed."""
        signals = [
            signal
            for signal, look in (
                (self.metricsChanged, self._metrics.read),
                (self.samplesChanged, self._samples.read),
                (self.probesChanged, self._look_at_probes),
                (self.checkpointsChanged, self._look_at_checkpoints),
            )
            if look()
        ]
        other = self._read_record() | self._events.read()
        said = self.message
        state = self._look_at_state()
        other |= said != self.message
        if state is not self._state:
            self._state = state
            self.stateChanged.emit(state)
            other = True
        for signal in signals:
            signal.emit()
        if signals or other:
            self.changed.emit()

    def _read_record(self) -> bool:
        try:
            changed_at = self.folder.record.stat().st_mtime_ns
        except OSError:
            changed_at = 0
        if changed_at == self._record:
            return False
        self._record = changed_at
        self.config, self.about, self._problem = None, {}, ""
        if changed_at:
            try:
                self.config, self.about = self.folder.read_record()
            except UserError as error:
                self._problem = str(error)
        return True

    def _look_at_checkpoints(self) -> bool:
        before = (self._checkpoints, self._best, self._averages, self._has_model)
        self._checkpoints = self.folder.checkpoints()
        self._best = self.folder.best_checkpoints()
        self._averages = sorted(self.folder.averages.glob("*.safetensors"))
        self._has_model = is_file(self.folder.model)
        return before != (self._checkpoints, self._best, self._averages, self._has_model)

    def _look_at_probes(self) -> bool:
        before = self._probe_files
        found = {
            (int(match[1]), int(match[2])): path
            for path in (self.path / "probes").glob("step-*.npz")
            if (match := _PROBE.fullmatch(path.name))
        }
        self._probe_files = [found[key] for key in sorted(found)]
        return self._probes.read() | (before != self._probe_files)

    def _look_at_state(self) -> RunState:
        self.message = ""
        last = self._events.values[-1] if len(self._events.values) > self._heard else {}
        if self.folder.owner() is not None:
            self._launched = None
            wish = self.folder.wish()
            self.message = STOPPING if wish == "stop" else _preparation(last)
            if self.config is None:
                return RunState.STARTING
            return RunState.PAUSED if wish == "pause" else RunState.RUNNING
        if last.get("event") == "failed" and last["step"] >= self.step:
            self.message = str(last["message"])
            return RunState.FAILED
        if self._launched is not None and time.monotonic() - self._launched < SECONDS_TO_START:
            return RunState.STARTING
        if self._is_finished():
            return RunState.FINISHED
        if self.config is None:
            self.message = self._problem or failure(self.log_end())
            return RunState.FAILED
        if self.folder.lock.is_abandoned():
            self.message = self._unexpected_end()
            return RunState.INTERRUPTED
        return RunState.STOPPED

    def _unexpected_end(self) -> str:
        """What is done again, which is what came after the last saved state."""
        saved = self.folder.saved_update()
        ended = "Ended unexpectedly: the process was killed or the computer shut down."
        if saved is None:
            return f"{ended} There is no saved state to resume from."
        again = (
            f"repeats steps {saved + 1:,} to {self.step:,}"
            if self.step > saved
            else "repeats the steps after that"
        )
        return (
            f"{ended} The state was saved after step {saved:,}; Resume {again}, with the same "
            "result."
        )

    def _is_finished(self) -> bool:
        """The model is there, and is the last thing that was written: a run may be trained on."""
        try:
            made = self.folder.model.stat().st_mtime_ns
            return self.step >= self.steps > 0 or made >= self.folder.metrics.stat().st_mtime_ns
        except OSError:
            return False


def _odd_lines(lines: Lines) -> str:
    if lines.odd == 1:
        what = f"line {lines.first_odd:,} is not a line of a training run and was skipped"
    else:
        what = (
            f"{lines.odd:,} lines, the first of them line {lines.first_odd:,}, are not lines of a "
            "training run"
        )
        what += " and were skipped"
    return f"{lines.path.name}: {what}."


def _preparation(event: dict[str, Any]) -> str:
    """How far the data are, while they are read and encoded."""
    if event.get("event") != "preparing":
        return ""
    share = event["done"] / event["total"] if event["total"] else 0.0
    what = str(event["what"])
    return f"{what[:1].upper()}{what[1:]}: {share:.0%}."
