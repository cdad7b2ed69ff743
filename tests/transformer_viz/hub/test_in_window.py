from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.transformer_viz.hub.conftest import REPOSITORY, SIZE, Hub
from tests.transformer_viz.stage import Stage
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager


@pytest.fixture
def window(qapp: QApplication, hub: Hub) -> Iterator[Window]:
    stage = Stage()
    themes = ThemeManager(qapp, ThemeChoice.LIGHT)
    made = Window(stage.session, stage.controller, themes, cache=hub.cache)
    hub.download = made.hub.download
    made.show()
    yield made
    made.close()
    made.deleteLater()


def start(window: Window, hub: Hub) -> None:
    window.commands["get_model"].trigger()
    assert window.hub.dialog is not None
    window.hub.dialog.action.click()
    hub.answer()
    window.hub.dialog.action.click()
    assert hub.download.downloading


def test_a_model_is_opened_when_it_has_arrived(
    hub: Hub, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(window.files.documents, "open", opened.append)
    start(window, hub)
    hub.answer(SIZE)
    assert opened == [hub.folder]


def test_it_is_said_when_the_dialog_was_closed(hub: Hub, window: Window) -> None:
    start(window, hub)
    assert window.hub.dialog is not None
    window.hub.dialog.close()
    hub.answer(SIZE)
    said = f"{REPOSITORY} has been downloaded; open it with File ▸ Get a model."
    assert window.status_line.currentMessage() == said


def test_a_closed_window_ends_what_runs(hub: Hub, window: Window) -> None:
    start(window, hub)
    window.close()
    assert hub.child.cancelled == 1
    assert not hub.download.running
    assert window.hub.dialog is not None
    assert not window.hub.dialog.isVisible()
