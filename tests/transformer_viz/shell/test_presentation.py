"""In front of a class, by keys: larger text, side panels that hide, and one view alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.transformer_viz.stage import GOOD, Stage
from transformer_viz.drawing.theme import taller
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.links.links import Links
from transformer_viz.scores.scores import Scores
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager
from transformer_viz.widgets.text_size import SIZES, set_text_size

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, stage: Stage, tmp_path: Path) -> Iterator[Window]:
    window = Window(
        stage.session, stage.controller, ThemeManager(qapp, ThemeChoice.LIGHT), runs=tmp_path
    )
    window.resize(1280, 720)
    window.show()
    window.show_text("a b it c")
    stage.controller.open(GOOD)
    qtbot.waitUntil(stage.shows("a b it c"))
    yield window
    window.close()
    window.deleteLater()
    set_text_size(0)


def points(widget: QWidget) -> float:
    return widget.font().pointSizeF()


def press(window: Window, key: Qt.Key, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
    QTest.keyClick(window, key, modifiers)


@pytest.mark.parametrize(
    ("key", "modifiers"),
    [
        (Qt.Key.Key_Plus, CONTROL),  # a German keyboard, and the block of numbers
        (Qt.Key.Key_Equal, CONTROL),  # an English one
        (Qt.Key.Key_Equal, CONTROL | SHIFT),  # the same with the plus that is printed on the key
        (Qt.Key.Key_Plus, CONTROL | Qt.KeyboardModifier.KeypadModifier),
    ],
)
def test_ctrl_plus_enlarges_text_and_leaves_the_heads_alone(
    window: Window, stage: Stage, key: Qt.Key, modifiers: Qt.KeyboardModifier
) -> None:
    usual = points(window.stage)
    press(window, key, modifiers)
    assert points(window.stage) > usual
    assert not stage.session.gates
    press(window, Qt.Key.Key_Minus, CONTROL)
    assert points(window.stage) == usual
    assert not stage.session.gates


def test_all_text_follows_and_the_size_is_kept(window: Window, stage: Stage) -> None:
    parts = [
        *(window.stage.of(Heatmap), window.stage.of(Heatmap).canvas, window.heads_map.picture),
        *(window.inspector, window.inspector.bars, window.chips, window.model_bar),
        *(window.stage.of(Links).canvas, window.stage.of(Scores).canvas, window.status_line),
    ]
    title = window.stage.of(Heatmap).header.title
    usual = points(parts[0])
    for _ in SIZES:
        press(window, Qt.Key.Key_Plus, CONTROL)
    assert {points(part) for part in parts} == {24}
    assert points(title) == pytest.approx(1.15 * 24)
    assert stage.controller.settings.text_size == 24
    for _ in SIZES:
        press(window, Qt.Key.Key_Minus, CONTROL)
    assert {points(part) for part in parts} == {9}
    press(window, Qt.Key.Key_Plus, CONTROL)
    press(window, Qt.Key.Key_0, CONTROL)
    assert {points(part) for part in parts} == {usual}
    assert stage.controller.settings.text_size == 0


def test_lines_of_text_have_the_height_that_they_need(window: Window, stage: Stage) -> None:
    chips, bars, controls = window.chips, window.inspector.bars, window.stage.of(Heatmap).header
    stage.controller.change_settings(text_size=9)
    least = [chips.height(), bars.sizeHint().height(), controls.quantity.height()]
    stage.controller.change_settings(text_size=24)
    line = bars.fontMetrics().height()
    count = bars.sizeHint().height() / taller(24, bars.font())
    assert chips.height() >= line
    assert bars.sizeHint().height() >= count * line
    assert controls.quantity.height() >= line
    now = [chips.height(), bars.sizeHint().height(), controls.quantity.height()]
    assert all(large > small for large, small in zip(now, least, strict=True))


@pytest.mark.parametrize("size", [18, 24])
def test_a_window_of_1280_pixels_holds_large_text(window: Window, stage: Stage, size: int) -> None:
    stage.controller.change_settings(text_size=size)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (1280, 720)
    assert window.minimumSizeHint().width() <= 1280


def test_side_panels_give_way_to_large_text_and_come_back(window: Window) -> None:
    assert window.inspector.isVisible()
    for _ in SIZES:
        press(window, Qt.Key.Key_Plus, CONTROL)
    assert not window.inspector.isVisible()
    assert "F10" in window.status_line.currentMessage()
    assert window.stage.width() > 900
    press(window, Qt.Key.Key_0, CONTROL)
    assert window.inspector.isVisible()
    press(window, Qt.Key.Key_F10)
    press(window, Qt.Key.Key_Plus, CONTROL)
    press(window, Qt.Key.Key_0, CONTROL)
    assert not window.inspector.isVisible()  # the user hid it


def test_a_message_covers_the_selection(window: Window, qtbot: QtBot) -> None:
    selection = window.status_line.findChild(QLabel)
    assert selection.text()
    for _ in range(2):
        press(window, Qt.Key.Key_Plus, CONTROL)
        qtbot.wait(50)  # the line has another height
    assert "Text size" in window.status_line.currentMessage()
    assert not selection.text()
    window.status_line.clearMessage()
    assert selection.text()


def test_a_window_opens_with_the_size_and_panels_that_were_left(
    qapp: QApplication, tmp_path: Path
) -> None:
    stage = Stage()
    stage.controller.change_settings(text_size=16, hidden_panels=("inspector",))
    themes = ThemeManager(qapp, ThemeChoice.LIGHT)
    window = Window(stage.session, stage.controller, themes, runs=tmp_path)
    window.show()
    try:
        assert points(window.stage) == 16
        assert window.heads_map.isVisible()
        assert not window.inspector.isVisible()
        assert not window.commands["show_inspector"].isChecked()
    finally:
        window.close()
        window.deleteLater()
        set_text_size(0)


@pytest.mark.parametrize(
    ("key", "name"), [(Qt.Key.Key_F9, "heads_map"), (Qt.Key.Key_F10, "inspector")]
)
def test_side_panels_hide_and_come_back_as_wide(
    window: Window, stage: Stage, key: Qt.Key, name: str
) -> None:
    panel: QWidget = getattr(window, name)
    width, room = panel.width(), window.stage.width()
    panel.setFocus()
    press(window, key)
    QApplication.processEvents()
    assert not panel.isVisible()
    assert window.stage.width() > room
    assert stage.controller.settings.hidden_panels == (name,)
    focus = QApplication.focusWidget()
    assert focus is not None
    assert not panel.isAncestorOf(focus)
    press(window, key)
    QApplication.processEvents()
    assert panel.isVisible()
    assert panel.width() == pytest.approx(width, abs=2)
    assert stage.controller.settings.hidden_panels == ()


def test_widths_are_kept_over_an_end_with_hidden_panels(window: Window, stage: Stage) -> None:
    before = window.columns.sizes()
    press(window, Qt.Key.Key_F9)
    press(window, Qt.Key.Key_F10)
    QApplication.processEvents()
    window.close()
    assert stage.controller.settings.panels == pytest.approx(before, abs=4)


@pytest.mark.parametrize("leave", [Qt.Key.Key_Escape, Qt.Key.Key_F11])
def test_a_view_alone_has_the_whole_screen_until_escape(
    window: Window, stage: Stage, leave: Qt.Key
) -> None:
    around = [window.menuBar(), window.statusBar(), window.heads_map, window.inspector]
    around += [window.source, window.chips, window.model_bar, window.stage.tabs]
    stage.session.pin(2, 1)
    press(window, Qt.Key.Key_F11, SHIFT)
    assert window.isFullScreen()
    assert window.commands["view_alone"].isChecked()
    assert not any(part.isVisible() for part in around)
    assert window.stage.of(Heatmap).isVisible()
    press(window, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert window.stage.current == "links"
    assert window.stage.of(Links).isVisible()
    press(window, Qt.Key.Key_Plus, CONTROL)
    assert not window.menuBar().isVisible()
    press(window, leave)
    assert not window.isFullScreen()
    assert all(part.isVisible() for part in around)
    assert not window.commands["view_alone"].isChecked()
    assert stage.session.selection.pinned  # the first Esc takes nothing else away


def test_a_hidden_panel_stays_hidden_when_a_view_alone_ends(window: Window) -> None:
    press(window, Qt.Key.Key_F9)
    press(window, Qt.Key.Key_F11, SHIFT)
    press(window, Qt.Key.Key_F11, SHIFT)
    assert not window.heads_map.isVisible()
    assert window.inspector.isVisible()
    press(window, Qt.Key.Key_F11, SHIFT)
    press(window, Qt.Key.Key_F10)  # while it is away
    press(window, Qt.Key.Key_Escape)
    assert not window.inspector.isVisible()
