"""The window by keyboard alone: letters that are given once, and an order of Tab as on screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from tests.transformer_viz.stage import GOOD, Stage
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Window]:
    stage = Stage()
    window = Window(
        stage.session, stage.controller, ThemeManager(qapp, ThemeChoice.LIGHT), runs=tmp_path
    )
    window.resize(1440, 900)
    window.show()
    window.show_text("a b it c")
    stage.controller.open(GOOD)
    qtbot.waitUntil(stage.shows("a b it c"))
    yield window
    window.close()
    window.deleteLater()


def letters(part: QWidget) -> list[str]:
    """What Alt and a letter reach in it: of buttons and tabs that are or can be shown."""
    texts = {button.text() for button in part.findChildren(QAbstractButton)}
    for bar in part.findChildren(QTabBar):
        texts |= {bar.tabText(index) for index in range(bar.count())}
    marked = [text.replace("&&", "") for text in texts]
    return [text[text.index("&") + 1].lower() for text in marked if "&" in text]


@pytest.mark.parametrize("panel", ["heads", "training"])
def test_no_letter_is_given_twice(window: Window, panel: str) -> None:
    """Not by a panel, and not by the panel and what is always there."""
    menus = [action.text() for action in window.menuBar().actions()]
    always = [text[text.index("&") + 1].lower() for text in menus]
    always += [*letters(window.model_bar), *letters(window.samples.parentWidget())]
    getattr(window, panel).show()
    given = Counter([*set(always), *letters(getattr(window, panel).panel)])
    assert {letter for letter, times in given.items() if times > 1} == set()


@pytest.mark.parametrize(("panel", "key"), [("heads", Qt.Key.Key_H), ("training", Qt.Key.Key_T)])
def test_a_panel_that_is_closed_gives_the_keyboard_to_the_picture(
    window: Window, panel: str, key: Qt.Key
) -> None:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    window.source.setFocus()
    QTest.keyClick(window, key, both)
    opened = getattr(window, panel).panel
    assert opened.isAncestorOf(QApplication.focusWidget())
    QTest.keyClick(window, key, both)
    assert not opened.isVisible()
    assert window.stage.isAncestorOf(QApplication.focusWidget())
    QTest.keyClick(window, key, both)
    window.source.setFocus()
    QTest.keyClick(window, key, both)
    assert window.source.editor.hasFocus(), "it was not in the panel"


def tab_order(window: Window) -> list[QWidget]:
    """What Tab visits, from the English text on."""
    start = window.source.editor
    start.setFocus()
    visited = [start]
    while True:
        window.focusNextPrevChild(True)
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused is start:
            return visited
        visited.append(focused)  # type: ignore[arg-type]
        assert len(visited) < 100


def test_tab_goes_as_one_reads(window: Window) -> None:
    window.stage.of(Heatmap).session.pin(1, 2)
    window.stage.of(Heatmap).session.pin(2, 0, add=True)
    window.stage.of(Heatmap).refresh()
    order = tab_order(window)
    gates = window.inspector.gates
    tags = window.stage.of(Heatmap).tray.tags
    wanted = [
        window.stage.of(Heatmap).canvas,
        *(part for tag in tags for part in (tag.choose, tag.release)),
        window.inspector.roles.open,
        *(gates.on, gates.off, gates.alone, gates.factor),
        window.inspector.bars,
    ]
    assert len(tags) == 2
    assert [part for part in order if part in wanted] == wanted
