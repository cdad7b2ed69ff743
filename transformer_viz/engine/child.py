"""A process that the window waits for: it gives one answer, and can be cancelled."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QProcess, Signal

from core.system import give_way
from transformer_viz.engine.launch import child

_POLITE = 15  # niceness


class Child(QObject):
    """One command of `core` at a time; a new one takes the place of the one that runs."""

    finished = Signal(object)  # what was parsed from stdout, or None if there is nothing
    failed = Signal(str)  # one sentence
    progressed = Signal(str)  # each line on stderr, when it is whole
    runningChanged = Signal(bool)

    def __init__(
        self,
        parent: QObject | None = None,
        parse: Callable[[str], Any] = json.loads,
        *,
        polite: bool = False,
    ) -> None:
        """Prepare a process; with `polite`, everything else that wants the processor goes first,
        where the system can do that."""
        super().__init__(parent)
        self._parse = parse
        self._polite = polite
        self._process: QProcess | None = None
        self._errors = ""
        self._begun = ""  # of a line on stderr

    @property
    def running(self) -> bool:
        return self._process is not None

    def run(self, arguments: Sequence[str]) -> None:
        self.cancel()
        process = child(arguments)
        process.setParent(self)
        environment = process.processEnvironment()
        # Threads that spin while they wait take the processor from those that they wait for, as
        # soon as anything else runs: measured, seven times as slow.
        if not environment.contains("OMP_WAIT_POLICY"):
            environment.insert("OMP_WAIT_POLICY", "PASSIVE")
        process.setProcessEnvironment(environment)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        process.readyReadStandardError.connect(self._on_said)
        process.started.connect(self._on_started)
        self._process, self._errors, self._begun = process, "", ""
        self.runningChanged.emit(True)
        process.start()

    def cancel(self) -> None:
        """End it without an answer; it takes a moment to go, for which nobody waits."""
        process, self._process = self._process, None
        if process is not None:
            process.finished.disconnect(self._on_finished)
            process.errorOccurred.disconnect(self._on_error)
            process.readyReadStandardError.disconnect(self._on_said)
            process.started.disconnect(self._on_started)
            process.finished.connect(process.deleteLater)
            application = QCoreApplication.instance()
            assert application is not None
            application.aboutToQuit.connect(process.waitForFinished)
            process.kill()
            self.runningChanged.emit(False)

    def _on_started(self) -> None:
        if self._polite and self._process is not None:
            give_way(_POLITE, self._process.processId())

    def _on_said(self) -> None:
        process = self._process
        assert process is not None
        said = bytes(process.readAllStandardError().data()).decode("utf-8", "replace")
        self._errors += said
        *lines, self._begun = (self._begun + said).split("\n")
        for line in filter(None, map(str.strip, lines)):
            if self._process is not process:  # given up by whom the line before was for
                return
            self.progressed.emit(line)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end()
            self.failed.emit("A Python process could not be started for this.")

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        process = self._process
        assert process is not None
        output = bytes(process.readAllStandardOutput().data()).decode("utf-8", "replace")
        self._on_said()
        if self._process is not process:  # given up by whom its last line was for
            return
        self._end()
        if code != 0 or status is not QProcess.ExitStatus.NormalExit:
            self.failed.emit(failure(self._errors))
            return
        try:
            answer = self._parse(output) if output.strip() else None
        except ValueError:
            self.failed.emit("The process returned an unreadable answer; try again.")
        else:
            self.finished.emit(answer)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.deleteLater()
        self.runningChanged.emit(False)


def failure(errors: str) -> str:
    """The sentence in what a command wrote on stderr, besides progress, before it ended."""
    said = filter(None, map(str.strip, errors.split("\n")))
    lines = [line for line in said if not line.startswith("{")]
    if not lines:
        return "The process stopped without an error message; it may have run out of memory."
    command, colon, sentence = lines[-1].partition(": ")
    return sentence if colon and command.startswith("transformer-viz ") else lines[-1]
