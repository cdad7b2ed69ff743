"""A lesson presented to a class, in the real window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.lessons.lesson import parse_lesson
from tests.transformer_viz.lessons.test_in_window import LESSON, Taught
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.lessons.presenting import POINTER, pointer
from transformer_viz.widgets.text_size import text_size


@pytest.fixture
def taught(qapp: QApplication, qtbot: QtBot) -> Iterator[Taught]:
    taught = Taught(qapp, qtbot)
    taught.commands.begin(parse_lesson(LESSON, Path("two-words.md")))
    yield taught
    taught.window.close()
    assert qapp.overrideCursor() is None


def test_a_lesson_is_presented_in_a_strip_and_ends_as_it_began(taught: Taught) -> None:
    window, strip, before = taught.window, taught.commands.presenting, text_size()
    QTest.keyClick(window, Qt.Key.Key_F11)
    assert window.isFullScreen()
    assert text_size() >= 18 > before
    assert not taught.page.isVisible()
    assert strip.next.isVisible()
    assert strip.next.hasFocus()
    assert QApplication.overrideCursor() is not None
    taught.click(strip.next)
    taught.qtbot.waitUntil(taught.shows("one two three"))
    taught.qtbot.waitUntil(lambda: taught.commands.ring.isVisible())
    assert (strip.title.text(), strip.question.text()) == ("2 of 4: First", "Which?")
    taught.click(strip.text)
    assert taught.page.isVisible()
    taught.click(strip.text)
    assert not taught.page.isVisible()
    assert taught.commands.ring.isVisible()
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isFullScreen()
    assert text_size() == before
    assert not strip.next.isVisible()
    assert taught.page.isVisible()
    assert QApplication.overrideCursor() is None
    assert taught.controller.settings.text_size == 0


def test_a_presenter_s_keys_lead_on_wherever_the_keyboard_is(taught: Taught) -> None:
    window, commands = taught.window, taught.commands
    QTest.keyClick(window, Qt.Key.Key_F11)
    window.edit_text()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_PageDown)
    assert commands.index == 1
    QTest.keyClick(window.stage, Qt.Key.Key_PageDown)
    assert commands.index == 2
    QTest.keyClick(window.stage, Qt.Key.Key_PageUp)
    assert commands.index == 1
    QTest.keyClick(window.stage, Qt.Key.Key_PageUp, Qt.KeyboardModifier.ControlModifier)
    assert commands.index == 1
    commands.leave()
    assert not window.isFullScreen(), "a presentation ends with its lesson"
    QTest.keyClick(window.stage, Qt.Key.Key_PageDown)
    assert commands.lesson is None


def test_the_pointer_has_its_hot_spot_in_a_dot_of_the_accent(qapp: QApplication) -> None:
    for theme in (LIGHT, DARK):
        cursor = pointer(theme, 2.0)
        assert cursor.hotSpot().toTuple() == (POINTER // 2, POINTER // 2)
        image = cursor.pixmap().toImage()
        assert image.pixelColor(POINTER, POINTER).name() == theme.accent
        assert image.pixelColor(0, 0).alpha() == 0
