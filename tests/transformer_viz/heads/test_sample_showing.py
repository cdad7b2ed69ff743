"""Choosing a sample shows its subject, in the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.stage import GOOD, Stage
from transformer_viz.shell.window import Window
from transformer_viz.state.bundled import FIRST_TEXT
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager

E = AttentionKind.ENCODER_SELF
EVERYDAY = "Can you help me?"
BEAM = "I can hardly believe that."


class Shown(Stage):
    def __init__(self, app: QApplication, qtbot: QtBot) -> None:
        super().__init__()
        self.qtbot = qtbot
        self.window = Window(self.session, self.controller, ThemeManager(app, ThemeChoice.LIGHT))
        self.window.show()
        self.controller.open(GOOD)
        self.controller.translate("Good morning .")  # opens on a head of its own
        qtbot.waitUntil(self.shows("Good morning ."))

    def choose(self, text: str) -> None:
        self.window.choose_sample(text)
        self.qtbot.waitUntil(self.shows(text))
        QTest.qWait(20)

    @property
    def line(self) -> str:
        return "" if self.window.sight.isHidden() else self.window.sight.text


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    shown = Shown(qapp, qtbot)
    yield shown
    shown.window.close()


def test_a_sample_selects_the_head_the_row_and_the_view_that_show_it(shown: Shown) -> None:
    shown.window.show_view("positions")
    shown.choose(FIRST_TEXT)
    selection, trace = shown.session.selection, shown.session.trace
    assert trace is not None
    assert selection.kind is E
    assert selection.query is not None
    assert selection.key is not None
    assert trace.source_tokens[selection.query].label == "it"
    assert trace.source_tokens[selection.key].label == "animal"
    assert shown.window.stage.current == "heatmap"
    assert "“it”" in shown.line
    assert "“animal”" in shown.line
    assert shown.window.hint.isHidden()


def test_the_line_goes_with_the_text_that_it_is_about(shown: Shown) -> None:
    shown.choose(FIRST_TEXT)
    assert shown.line
    shown.controller.translate(f"{FIRST_TEXT} And more .")
    assert not shown.line


def test_the_same_sample_can_be_chosen_again(shown: Shown) -> None:
    shown.choose(FIRST_TEXT)
    shown.session.select(kind=E, layer=0, head=1, query=0, key=0)
    shown.choose(FIRST_TEXT)
    trace = shown.session.trace
    assert trace is not None
    assert shown.session.selection.query is not None
    assert trace.source_tokens[shown.session.selection.query].label == "it"


def test_a_sample_without_a_subject_leaves_the_selection(shown: Shown) -> None:
    shown.session.select(kind=E, layer=1, head=1)
    shown.window.show_view("links")
    shown.choose(EVERYDAY)
    assert shown.session.selection.primary == Head(E, 1, 1)
    assert shown.window.stage.current == "links"
    assert shown.line == ""


def test_a_sample_of_a_search_opens_the_decoding(shown: Shown) -> None:
    shown.choose(BEAM)
    assert shown.window.stage.current == "decoding"
    assert "Ctrl+B" in shown.line


def test_a_text_that_is_typed_selects_nothing(shown: Shown) -> None:
    shown.choose(EVERYDAY)
    shown.session.select(kind=E, layer=1, head=1)
    shown.controller.translate(FIRST_TEXT)
    shown.qtbot.waitUntil(shown.shows(FIRST_TEXT))
    QTest.qWait(20)
    assert shown.session.selection.primary == Head(E, 1, 1)
    assert shown.line == ""
