"""The analysis on a model file, with a process that answers as a test tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from core.trace.trace import Trace
from tests.transformer_viz.heads.answers import answer
from transformer_viz.engine import measuring
from transformer_viz.engine.child import Child
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.store import Question
from transformer_viz.state.session import ModelInfo, Phase, Session, Status


class FakeChild(Child):
    """Remembers what it is asked, and runs nothing."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.asked: list[list[str]] = []
        self.cancelled = 0

    def run(self, arguments: Any) -> None:
        self.asked.append(list(arguments))

    def cancel(self) -> None:
        self.cancelled += 1


class Desk:
    """A model of 2 layers of 3 heads and an analysis of it; results go to `folder`."""

    def __init__(self, folder: Path, trace: Trace, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.folder = folder
        self.session = Session()
        self.session.set_status(Status(Phase.READY))
        self.session.set_trace(trace)
        self.analysis = HeadAnalysis(self.session, folder / "heads")

    @property
    def child(self) -> FakeChild:
        child = self.analysis._child
        assert isinstance(child, FakeChild)
        return child

    def open(self, name: str, contents: bytes = b"weights") -> Path:
        """Show a model of this name, and wait until it is known what was measured of it."""
        path = self.folder / f"{name}.safetensors"
        path.write_bytes(contents)
        self.session.set_model(ModelInfo(name, path, 2, 2, 3, 3, 8, 100))
        self.qtbot.waitUntil(lambda: bool(self.analysis._checksum))
        return path

    def measure(self, question: Question | None = None, **changes: Any) -> None:
        """Ask, and answer at once."""
        self.analysis.measure(question or Question())
        self.answer(**changes)

    def answer(self, **changes: Any) -> None:
        self.child.finished.emit(json.dumps(answer(**changes)))
        self.qtbot.waitUntil(lambda: self.analysis.running is None)


@pytest.fixture
def desk(tmp_path: Path, trace: Trace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(measuring, "Child", FakeChild)
    return Desk(tmp_path, trace, qtbot)
