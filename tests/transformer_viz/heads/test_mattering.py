"""Which heads matter here: the question on a model that answers as a test tells it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.stage import GOOD, OTHER, Stage, texts
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.engine.sentence_effect import new_words
from transformer_viz.heads import mattering
from transformer_viz.heads.mattering import NO_MODEL, every_head
from transformer_viz.heads.mattering_page import MatteringPage
from transformer_viz.state.gates import ALL_ON
from transformer_viz.state.session import ModelInfo

E, D, C = AttentionKind
TEXT = "The dog slept ."
HEADS = 18  # 3 kinds, 2 layers, 3 heads


class Shown(Stage):
    def __init__(self, qtbot: QtBot) -> None:
        super().__init__()
        self.mattering = self.controller.mattering
        self.page = MatteringPage(self.session, self.mattering)
        qtbot.addWidget(self.page)
        self.page.resize(1100, 300)
        self.page.apply_theme(LIGHT)
        self.qtbot = qtbot

    def open(self, text: str = TEXT) -> None:
        self.controller.open(GOOD)
        self.controller.translate(text)
        self.qtbot.waitUntil(self.shows(text))

    def measured(self) -> None:
        self.qtbot.waitUntil(lambda: self.mattering.current and not self.mattering.running)

    def click(self, row: int) -> None:
        rows = self.page.rows
        place = rows.row_rect(row).center()
        QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)


@pytest.fixture
def shown(qapp: object, qtbot: QtBot) -> Iterator[Shown]:
    shown = Shown(qtbot)
    yield shown
    shown.controller.close()


def test_nothing_is_asked_before_somebody_looks(shown: Shown) -> None:
    shown.open()
    assert shown.backend.measured == []
    shown.page.show()
    shown.measured()
    assert shown.backend.measured == [(TEXT, HEADS)]


def test_every_head_is_listed_the_largest_loss_first(shown: Shown) -> None:
    shown.open()
    shown.page.show()
    shown.measured()
    effects = shown.mattering.effects
    assert len(effects) == shown.page.rows.count == HEADS
    assert {head for effect in effects for head in effect.gates} == {
        Head(kind, layer, head) for kind in AttentionKind for layer in range(2) for head in range(3)
    }
    changes = [effect.change for effect in effects]
    assert changes == sorted(changes)
    assert set(effects[0].gates) == {Head(E, 1, 2)}
    said = shown.page.rows.describe(0)
    assert said.startswith("Encoder self 2.3 would be off: log P −0.230. The translation stays")
    assert any("changes in 1 of 18 cases" in text for text in texts(shown.page))


def test_a_click_switches_exactly_these_heads_off_and_on_again(shown: Shown) -> None:
    shown.open()
    shown.session.set_gates({Head(C, 0, 0): 0.0})
    shown.qtbot.waitUntil(shown.shows(TEXT))
    shown.page.show()
    shown.measured()
    shown.click(0)
    assert dict(shown.session.gates) == {Head(E, 1, 2): 0.0}
    assert shown.session.selection.primary == Head(E, 1, 2)
    assert "is off" in shown.page.rows.describe(0)
    QTest.keyClick(shown.page.rows, Qt.Key.Key_Return)
    assert shown.session.gates == ALL_ON
    QTest.keyClick(shown.page.rows, Qt.Key.Key_Down)
    assert shown.session.gates == ALL_ON
    QTest.keyClick(shown.page.rows, Qt.Key.Key_Return)
    assert dict(shown.session.gates) == dict(shown.mattering.effects[1].gates)


def test_switching_off_measures_nothing_again(shown: Shown) -> None:
    shown.open()
    shown.page.show()
    shown.measured()
    shown.click(3)
    shown.qtbot.waitUntil(shown.shows(TEXT))
    shown.qtbot.wait(50)
    assert shown.backend.measured == [(TEXT, HEADS)]
    assert shown.mattering.current


def test_another_sentence_is_measured_when_it_is_shown(shown: Shown) -> None:
    shown.open()
    shown.page.show()
    shown.measured()
    shown.controller.translate("The cat slept .")
    shown.qtbot.waitUntil(lambda: len(shown.backend.measured) == 2)
    shown.measured()
    assert shown.backend.measured[-1] == ("The cat slept .", HEADS)


def test_pairs_of_a_layer(shown: Shown) -> None:
    shown.open()
    shown.page.show()
    shown.measured()
    chosen = shown.page.chosen
    assert [chosen.itemText(index) for index in range(3)] == [
        *("Each head", "Pairs of Encoder self layer 1", "Pairs of Encoder self layer 2"),
    ]
    chosen.setCurrentIndex(2)
    chosen.activated.emit(2)
    shown.measured()
    assert shown.backend.measured[-1] == (TEXT, 3)
    assert {frozenset(effect.gates) for effect in shown.mattering.effects} == {
        frozenset({Head(E, 1, a), Head(E, 1, b)}) for a, b in ((0, 1), (0, 2), (1, 2))
    }
    assert shown.page.rows.describe(0).startswith("Encoder self 2.2 + 2.3 would be off")
    shown.click(0)
    assert dict(shown.session.gates) == {Head(E, 1, 1): 0.0, Head(E, 1, 2): 0.0}
    assert shown.session.selection.heads == (Head(E, 1, 1), Head(E, 1, 2))


def test_it_can_be_cancelled_and_taken_up_again(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mattering, "SLICE", 0.0)
    shown.open()
    shown.backend.busy.clear()
    shown.backend.gate.clear()
    shown.page.show()
    shown.qtbot.waitUntil(shown.backend.busy.is_set)
    assert shown.mattering.running
    QTest.mouseClick(shown.page.cancel, Qt.MouseButton.LeftButton)
    shown.backend.gate.set()
    assert not shown.mattering.running
    shown.qtbot.wait(50)
    assert len(shown.mattering.effects) < HEADS
    assert shown.page.measure.isVisible()
    QTest.mouseClick(shown.page.measure, Qt.MouseButton.LeftButton)
    shown.measured()
    assert len(shown.mattering.effects) == HEADS
    assert not shown.page.measure.isVisible()


def test_the_engine_answers_other_questions_between_two_slices(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typing does not wait until every head is measured."""
    monkeypatch.setattr(mattering, "SLICE", 0.0)
    shown.open()
    shown.page.show()
    order: list[int] = []
    shown.engine.ask(
        "positions",
        lambda backend, context: len(shown.mattering.effects),
        done=order.append,
        failed=lambda problem: pytest.fail(problem),
    )
    shown.qtbot.waitUntil(lambda: bool(order))
    assert order[0] < HEADS
    shown.measured()


def test_of_a_large_model_it_waits_to_be_asked(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mattering, "AUTOMATIC", 10)
    shown.open()
    shown.page.show()
    shown.qtbot.wait(20)
    assert shown.backend.measured == []
    QTest.mouseClick(shown.page.measure, Qt.MouseButton.LeftButton)
    shown.measured()
    assert shown.backend.measured == [(TEXT, HEADS)]


def test_why_there_is_nothing_to_measure(shown: Shown, qtbot: QtBot) -> None:
    shown.page.show()
    assert NO_MODEL in texts(shown.page)
    assert not shown.page.measure.isEnabled()


def test_a_failure_is_said_and_another_try_is_open(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> Iterator[object]:
        raise MemoryError
        yield

    monkeypatch.setattr(shown.backend, "sentence_effects", fail)
    shown.open()
    shown.page.show()
    shown.qtbot.waitUntil(lambda: "memory" in shown.mattering.message)
    assert any("memory" in text for text in texts(shown.page))
    assert not shown.mattering.running


def test_another_model_begins_anew(shown: Shown) -> None:
    shown.open()
    shown.page.show()
    shown.measured()
    shown.controller.open(OTHER)
    shown.qtbot.waitUntil(lambda: len(shown.backend.measured) == 2)
    shown.measured()


def test_pruned_heads_are_left_out() -> None:
    model = ModelInfo("a", GOOD, 1, 2, 2, 1, 8, 100, pruned=frozenset({"encoder_self.0.1"}))
    assert every_head(model) == [
        Head(E, 0, 0),
        *(Head(kind, layer, 0) for kind in (D, C) for layer in range(2)),
    ]


def test_words_that_are_new_are_marked() -> None:
    before = "weil sie zu breit war."
    assert new_words(before, "weil es zu breit war.") == [
        ("weil", False),
        ("es", True),
        *((word, False) for word in ("zu", "breit", "war.")),
    ]
    assert new_words(before, "weil sie breit war.") == [
        (word, False) for word in ("weil", "sie", "breit", "war.")
    ]


def test_it_is_painted_light_and_dark(shown: Shown) -> None:
    shown.open()
    shown.page.show()
    shown.measured()
    pictures = []
    for theme in (LIGHT, DARK):
        shown.page.apply_theme(theme)
        pictures.append(shown.page.rows.viewport().grab().toImage())
    colors = {
        theme: {picture.pixelColor(x, 60).name() for x in range(picture.width())}
        for theme, picture in zip((LIGHT, DARK), pictures, strict=True)
    }
    for theme, found in colors.items():
        assert theme.color("warning").name() in found
