"""Models that say odd things of themselves open all the same, and the window names what it left."""

from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.checkpoints.native import load_checkpoint, save_checkpoint
from tests.core.checkpoints.test_provenance import WRONG
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.startup.odd_window import OddWindow
from transformer_viz.state.session import Phase
from transformer_viz.widgets.dialogs import about


def test_each_opens_and_is_named(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    window = OddWindow(qapp)
    window.show(qtbot)
    model = load_checkpoint(save_tiny_model(tmp_path / "good.safetensors"))
    path = tmp_path / "odd.safetensors"
    for name, values in {name: values for values, name in WRONG}.items():
        save_checkpoint(path, model.model, model.tokenizer, values)
        window.load(path)
        window.type("The dog slept.")
        assert window.session.status.phase is Phase.READY
        assert window.notices[-1] == (
            f"odd.safetensors describes itself with values of the wrong form, which are ignored: "
            f"{name}."
        )
        about(window.session.model, window.window).close()
    window.window.close()
    window.window.deleteLater()
