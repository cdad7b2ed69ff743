"""Whatever is clicked, typed, pressed and opened in whatever order: nothing raises, and the window
answers afterwards. pytest-qt fails a test in which a slot raises or Qt warns."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.trace.npz import save_npz
from core.trace.trace import Trace
from tests.monkey import Monkey, caged
from tests.transformer_viz.models import save_tiny_model
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.window import Window
from transformer_viz.state.session import Phase, Session
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.widgets.style import ThemeManager

SENTENCE = "My brother bought a new car."


@pytest.mark.parametrize("seed", [1, 2])
def test_a_monkey_breaks_nothing(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, trace: Trace, seed: int
) -> None:
    model = save_tiny_model(tmp_path / "model.safetensors")
    save_npz(trace, tmp_path / "trace.npz")
    (tmp_path / "text.txt").write_text("The dog slept.", encoding="utf-8")
    (tmp_path / "noise.npz").write_bytes(b"PK\x03\x04" + bytes(range(256)))
    session = Session()
    controller = Controller(
        session, Engine(TorchBackend(1)), Settings(), SettingsFile(tmp_path / "settings")
    )
    with caged(tmp_path):
        window = Window(
            *(session, controller, ThemeManager(qapp, "light")),
            runs=tmp_path / "runs",
            cache=tmp_path / "cache",
        )
        window.resize(1000, 640)
        window.show()
        controller.open(model)
        names = ("model.safetensors", "trace.npz", "text.txt", "noise.npz", "missing")
        monkey = Monkey(window, seed, [tmp_path / name for name in names])
        try:
            monkey.play(150)
            controller.open(model)
            window.show_text(SENTENCE)
            qtbot.waitUntil(
                lambda: (
                    session.trace is not None
                    and session.trace.text == SENTENCE
                    and session.status.phase is Phase.READY
                ),
                timeout=60_000,
            )
        finally:
            print("\n".join(monkey.last))  # shown if it fails
            window.end()
            window.deleteLater()
