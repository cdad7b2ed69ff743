"""The decoding desk on a real model, small and untrained, and a text that it has translated."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.transformer_viz.models import save_tiny_model
from transformer_viz.decoding.hypotheses_desk import Decoding
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.shell.controller import Controller
from transformer_viz.state.session import Phase, Session
from transformer_viz.state.settings import Settings, SettingsFile

TEXT = "The animal was too tired."


class Desk:
    """Session, controller and desk; the model is asked in the engine's own thread."""

    def __init__(self, qtbot: QtBot, path: Path, settings: Settings | None = None) -> None:
        self.qtbot = qtbot
        self.session = Session()
        self.engine = Engine(TorchBackend(threads=1))
        self.controller = Controller(
            self.session, self.engine, settings or Settings(), SettingsFile(None)
        )
        self.decoding: Decoding = self.controller.decoding
        self.controller.open(path)
        self.translate(TEXT)

    def translate(self, text: str) -> None:
        self.controller.translate(text)
        self.wait(lambda: self.session.status.phase is Phase.READY and self.shown_text == text)

    @property
    def shown_text(self) -> str:
        return self.session.trace.text if self.session.trace is not None else ""

    def wait(self, condition) -> None:  # type: ignore[no-untyped-def]
        self.qtbot.waitUntil(condition, timeout=20_000)

    def wait_for(self, count: int) -> None:
        """Until there are so many hypotheses."""
        self.wait(lambda: len(self.decoding.hypotheses) == count)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny.safetensors")


@pytest.fixture
def desk(qtbot: QtBot, tiny_model: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, tiny_model)
    yield desk
    desk.controller.close()
