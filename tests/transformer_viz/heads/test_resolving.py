from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.stage import GOOD, Stage, texts, word_trace
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.engine.resolution import (
    ItPair,
    Resolution,
    famous_pairs,
    it_sentence,
    look,
    word_columns,
)
from transformer_viz.heads.resolving_page import ResolvingPage

E, C = AttentionKind.ENCODER_SELF, AttentionKind.CROSS
TIRED, WIDE = famous_pairs()[0].sides


def test_the_famous_pair_means_animal_and_street() -> None:
    pair = famous_pairs()[0]
    assert (TIRED.means, WIDE.means) == ("animal", "street")
    assert pair.adjectives == ("tired", "wide")
    assert TIRED.text[slice(*TIRED.it)] == "it"


def test_adjectives_are_found_before_commas() -> None:
    pair = ItPair(
        it_sentence("Because it was too heavy, the helicopter turned.", "helicopter"),
        it_sentence("Because it was too slippery, the helicopter turned.", "helicopter"),
    )
    assert pair.adjectives == ("heavy", "slippery")


def test_the_best_heads_come_first_and_each_kind_has_one() -> None:
    both = {Head(E, layer, head): layer + head / 10 for layer in range(2) for head in range(3)}
    both |= {Head(C, 0, head): 0.0 for head in range(3)}
    best = Resolution((), both, 100).best(2)
    assert best == [Head(E, 1, 2), Head(E, 1, 1), Head(C, 0, 0)]


def looking(head: Head, word: str) -> bool | None:
    """Whether a head is right that puts all weight of every row on this word."""
    trace = word_trace(TIRED.text)
    tokens = trace.source_tokens
    for kind in (E, C):
        maps = trace.attention[kind].maps  # type: ignore[union-attr]
        maps[:] = 0
        maps[..., [token.label for token in tokens].index(word)] = 1
    found = look(trace, head, TIRED, word_columns(trace))
    return None if found is None else found.right


def test_a_head_is_right_if_the_noun_is_the_heaviest_word_that_counts() -> None:
    head = Head(E, 0, 0)
    assert looking(head, "animal") is True
    assert looking(head, "street") is False
    assert looking(head, "cross") is False


def test_what_is_never_an_answer_does_not_count() -> None:
    trace = word_trace("The animal slept because it was tired .")
    sentence = it_sentence(trace.text, "animal")
    maps = trace.attention[E].maps  # type: ignore[union-attr]
    maps[:] = 0
    maps[..., 4] = 0.5  # "it" itself
    maps[..., 7], maps[..., 8] = 0.2, 0.2  # the mark and the end
    maps[..., 1] = 0.1
    found = look(trace, Head(E, 0, 0), sentence, word_columns(trace))
    assert found is not None
    assert found.right
    assert found.query == 4
    assert found.weights == pytest.approx([0, 0.1, 0, 0, 0.5, 0, 0, 0.2, 0.2])


def test_cross_attention_is_read_in_the_row_that_predicts_the_pronoun() -> None:
    trace = word_trace(TIRED.text, "es")
    found = look(trace, Head(C, 0, 0), TIRED, word_columns(trace))
    assert found is not None
    assert trace.predicted_tokens[found.query].label == "es"
    assert look(word_trace(TIRED.text), Head(C, 0, 0), TIRED, word_columns(trace)) is None


class Shown(Stage):
    def __init__(self, qtbot: QtBot) -> None:
        super().__init__()
        self.resolving = self.controller.resolving
        self.page = ResolvingPage(self.session, self.resolving)
        qtbot.addWidget(self.page)
        self.page.resize(1000, 300)
        self.page.apply_theme(LIGHT)
        self.wanted: list[Head] = []
        self.page.showWanted.connect(self.wanted.append)
        self.qtbot = qtbot

    def open(self) -> None:
        self.controller.open(GOOD)
        self.page.show()
        self.qtbot.waitUntil(lambda: len(self.resolving.traces) == 2)


@pytest.fixture
def shown(qapp: object, qtbot: QtBot) -> Iterator[Shown]:
    shown = Shown(qtbot)
    yield shown
    shown.controller.close()


def test_nothing_is_asked_before_somebody_looks(shown: Shown) -> None:
    shown.controller.open(GOOD)
    shown.qtbot.waitUntil(lambda: shown.session.model is not None)
    assert shown.resolving.resolution is None
    assert shown.backend.explained == []
    shown.page.show()
    shown.qtbot.waitUntil(lambda: len(shown.resolving.traces) == 2)
    assert [text for text, _search in shown.backend.explained] == [TIRED.text, WIDE.text]


def test_without_a_model_it_says_so(shown: Shown) -> None:
    shown.page.show()
    assert "Open a model first." in texts(shown.page)


def test_space_flips_the_adjective_from_wherever_the_keyboard_is(shown: Shown) -> None:
    shown.open()
    assert shown.resolving.sentence == TIRED
    QTest.keyClick(shown.page.rows, Qt.Key.Key_Space)
    assert shown.resolving.sentence == WIDE
    QTest.keyClick(shown.page.pairs, Qt.Key.Key_Space)
    assert shown.resolving.sentence == TIRED
    QTest.mouseClick(shown.page.flip, Qt.MouseButton.LeftButton)
    assert shown.resolving.sentence == WIDE
    assert shown.wanted == [Head(E, 0, 0)] * 3


def test_a_row_is_shown_with_the_row_of_it_pinned(shown: Shown) -> None:
    shown.open()
    rows = shown.page.rows
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.row_rect(0).center())
    assert shown.wanted == [Head(E, 0, 0)]
    selection = shown.resolving.selection(Head(E, 0, 0))
    trace = shown.resolving.traces[0]
    assert selection.query is not None
    assert trace.source_tokens[selection.query].label == "it"
    assert "75% of the pairs right in both" in rows.accessibleDescription()


def test_another_pair_begins_with_its_first_sentence(shown: Shown) -> None:
    shown.open()
    shown.resolving.flip()
    QTest.keyClick(shown.page.pairs, Qt.Key.Key_Down)
    shown.qtbot.waitUntil(lambda: len(shown.resolving.traces) == 2)
    assert shown.resolving.pair == famous_pairs()[1]
    assert not shown.resolving.flipped
    assert shown.resolving.traces[0].text == famous_pairs()[1].first.text


def test_the_sentences_are_read_again_when_a_head_is_gated(shown: Shown) -> None:
    shown.open()
    before = shown.resolving.traces
    shown.session.set_gates({Head(E, 0, 0): 0.0})
    shown.qtbot.waitUntil(lambda: len(shown.resolving.traces) == 2)
    assert shown.resolving.traces is not before
    assert shown.resolving.resolution is not None


def test_the_noun_meant_is_framed(shown: Shown) -> None:
    shown.open()
    picture = shown.page.rows.viewport().grab().toImage()
    frame = LIGHT.color("warning")
    there = np.array(
        [
            picture.pixelColor(x, y).name() == frame.name()
            for y in range(picture.height())
            for x in range(picture.width())
        ]
    )
    assert there.any()
