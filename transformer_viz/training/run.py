"""One training run as its folder tells it; it may be going on in any process, or in none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from core.errors import UserError
from core.training.config import RunConfig
from core.training.run_folder import RunFolder
from transformer_viz.training.lines import Lines

_PROBE = re.compile(r"step-(\d+)-(\d+)\.npz")  # step, sentence
RATE_LINES = 20
"""Logged steps whose speed is taken to be that of the rest of the run."""


class RunState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


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
        """``path``: a run folder. Nothing is read before the first ``poll``."""
        super().__init__(parent)
        self.path = path
        self.folder = RunFolder(path)
        self.config: RunConfig | None = None
        self.about: dict[str, Any] = {}
        self.problem = ""
        self._state = RunState.STOPPED
        self._record = 0
        self._metrics = Lines(self.folder.metrics)
        self._samples = Lines(self.folder.samples)
        self._probes = Lines(path / "probes.jsonl")
        self._events = Lines(path / "events.jsonl")
        self._checkpoints: list[Path] = []
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

    @property
    def probe_lines(self) -> Sequence[dict[str, Any]]:
        """A line of statistics and gold scores for each recorded step."""
        return self._probes.values

    def series(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Steps and values of one metric, for the lines that have it."""
        points = [(line["step"], line[name]) for line in self.metrics if name in line]
        table = np.array(points, dtype=np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def last(self, name: str) -> float | None:
        """The newest value of a metric."""
        return next((line[name] for line in reversed(self.metrics) if name in line), None)

    def checkpoints(self) -> Sequence[Path]:
        """In the order of their steps."""
        return self._checkpoints

    def probes(self) -> Sequence[Path]:
        """Traces ``probes/step-000123-0.npz`` in the order of their steps, then sentences."""
        return self._probe_files

    @property
    def model(self) -> Path | None:
        """The averaged model, once the run has made it."""
        return self.folder.model if self.folder.model.is_file() else None

    @property
    def step(self) -> int:
        return int(self.metrics[-1]["step"]) if self.metrics else 0

    @property
    def steps(self) -> int:
        """Updates asked for; 0 while that is not known."""
        return 0 if self.config is None else self.config.training.steps

    @property
    def seconds_left(self) -> float | None:
        """At the speed of the last logged steps, validation not counted."""
        timed = [line for line in self.metrics[-2 * RATE_LINES :] if "seconds" in line]
        timed = timed[-RATE_LINES:]
        if len(timed) < 2 or timed[-1]["step"] <= timed[0]["step"]:
            return None
        seconds = timed[-1]["seconds"] - timed[0]["seconds"]
        rate = seconds / (timed[-1]["step"] - timed[0]["step"])
        return float(rate * max(0, self.steps - timed[-1]["step"]))

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
        state = self._look_at_state()
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
        self.config, self.about, self.problem = None, {}, ""
        if changed_at:
            try:
                self.config, self.about = self.folder.read_record()
            except UserError as error:
                self.problem = str(error)
        return True

    def _look_at_checkpoints(self) -> bool:
        before, self._checkpoints = self._checkpoints, self.folder.checkpoints()
        return before != self._checkpoints

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
        if self.steps and self.step >= self.steps and self.folder.model.is_file():
            return RunState.FINISHED
        return RunState.STOPPED
