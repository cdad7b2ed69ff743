"""The decoding in the window: its commands, and what the other panels show of a hypothesis."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.trace.trace import AttentionKind
from tests.transformer_viz.decoding.decoding_desk import Desk, desk, tiny_model
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager

__all__ = ["desk", "tiny_model"]


@pytest.fixture
def window(desk: Desk, qapp: QApplication) -> Iterator[Window]:
    window = Window(desk.session, desk.controller, ThemeManager(qapp, ThemeChoice.LIGHT))
    window.source.set_text(desk.shown_text)
    window.show()
    yield window
    window.close()
    window.deleteLater()


def test_a_target_of_ones_own_from_anywhere(window: Window, desk: Desk) -> None:
    window.commands["own_target"].trigger()
    assert window.stage.current == "decoding"
    field = window.stage.of(DecodingView).steps.side.target
    QTest.keyClicks(field, "Das Tier war zu breit.")
    QTest.keyClick(field, Qt.Key.Key_Return)
    desk.wait_for(2)
    shown = desk.decoding.hypotheses[1].trace
    assert desk.session.trace is shown
    assert window.chips._tokens == shown.predicted_tokens  # every panel shows the hypothesis


def test_the_tree_from_anywhere(window: Window, desk: Desk) -> None:
    window.commands["beam_tree"].trigger()
    assert window.stage.current == "decoding"
    assert window.stage.of(DecodingView).tree_button.isChecked()


def test_steps_by_command_move_chips_and_heatmap_too(window: Window, desk: Desk) -> None:
    window.show_view("heatmap")
    desk.session.select(kind=AttentionKind.CROSS, query=3)
    window.commands["decoding_on"].trigger()
    assert desk.session.selection.query == 4
    assert window.chips._step() == 4
    assert desk.decoding.walk.step == 4
    window.commands["decoding_back"].trigger()
    assert desk.session.selection.query == 3
    window.commands["decoding_play"].trigger()
    assert desk.decoding.walk.playing
    window.commands["release"].trigger()
    assert not desk.decoding.walk.playing


def test_a_click_on_a_chip_of_the_translation_is_a_step(window: Window, desk: Desk) -> None:
    window.show_view("decoding")
    chip = window.chips._layout.rects[2].center().toPoint()
    none = Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(window.chips.viewport(), Qt.MouseButton.LeftButton, none, chip)
    assert desk.decoding.walk.step == 2
    assert window.stage.of(DecodingView).transport.position.text().startswith("step 3 of")


def test_typing_asks_for_no_candidates_while_nobody_looks(window: Window, desk: Desk) -> None:
    window.source.setFocus()
    QTest.keyClicks(window.source.editor, " and so on")
    text = window.source.text()
    desk.wait(lambda: desk.shown_text == text)
    desk.qtbot.wait(50)
    assert desk.decoding.candidates is None
    window.show_view("decoding")
    desk.wait(lambda: desk.decoding.candidates is not None)
