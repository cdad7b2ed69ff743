from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QToolTip

from core.trace.trace import AttentionKind, Trace
from transformer_viz.drawing.shading import shaded
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.state.linking import Place, linked
from transformer_viz.state.session import Session
from transformer_viz.translation.target_chips import MOST_LINES, TargetChips
from transformer_viz.widgets.spotlight import Spotlight

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


def made(session: Session) -> TargetChips:
    return TargetChips(session, Spotlight(session, session))


@pytest.fixture
def chips(session: Session, show) -> TargetChips:
    return show(made(session), 900, 40)


def middle(chips: TargetChips, step: int) -> QPoint:
    offset = QPoint(0, chips.verticalScrollBar().value())
    return chips._layout.rects[step].center().toPoint() - offset


def click(qtbot, chips: TargetChips, step: int) -> None:
    qtbot.mouseClick(chips.viewport(), Qt.MouseButton.LeftButton, pos=middle(chips, step))


def test_a_click_on_an_encoder_map_leads_to_the_cross_row(qtbot, session, chips) -> None:
    session.select(kind=E, layer=1, head=1, query=4, key=1)
    click(qtbot, chips, 1)
    selection = session.selection
    assert (selection.kind, selection.query, selection.key) == (C, 1, None)
    assert (selection.layer, selection.head) == (1, 1)


@pytest.mark.parametrize("kind", [D, C])
def test_a_click_on_a_decoder_map_selects_its_row(qtbot, session, chips, kind) -> None:
    session.select(kind=kind, layer=2, head=1)
    click(qtbot, chips, 3)
    assert (session.selection.kind, session.selection.query) == (kind, 3)
    assert (session.selection.layer, session.selection.head) == (2, 1)


def test_a_chip_is_the_token_its_step_predicts(session, trace: Trace, chips) -> None:
    assert chips._tokens == trace.predicted_tokens
    session.select(kind=C, query=1)
    assert "step 2 of 11: Tier" in chips.accessibleDescription()
    probability = float(np.exp(trace.log_probabilities[1]))
    assert f"probability {probability:.4f}" in chips.accessibleDescription()


def test_without_a_step_the_translation_is_heard(session, trace: Trace, chips) -> None:
    assert chips.accessibleDescription() == trace.translation


def test_hover_points_at_the_token_from_any_map(qtbot, session, chips) -> None:
    qtbot.mouseMove(chips.viewport(), middle(chips, 2))
    assert session.pointed == Place("target", 2)
    assert session.hover == (None, None), "an encoder map has no such row"
    session.select(kind=C)
    qtbot.mouseMove(chips.viewport(), middle(chips, 4))
    assert session.hover == (4, None)
    qtbot.mouseMove(chips.viewport(), QPoint(890, 30))
    assert (session.pointed, session.hover) == (None, (None, None))


def test_chips_are_shaded_by_the_weight_on_them(session, trace, chips, pixels) -> None:
    areas = [rect.toRect().adjusted(2, 4, -2, -20) for rect in chips._layout.rects]
    before = [pixels(chips, area) for area in areas]
    session.point(Place("source", 4))
    weights = linked(trace, session.selection, Place("source", 4)).across
    for area, old, weight in zip(areas, before, weights, strict=True):
        new = pixels(chips, area)
        assert (new != old).any() == (shaded(LIGHT, weight, "raised") != LIGHT.color("raised"))
    session.point(None)
    assert all((pixels(chips, a) == old).all() for a, old in zip(areas, before, strict=True))


def test_shades_follow_the_pinned_token_into_a_trace_of_another_length(
    session, make_trace, chips, pixels
) -> None:
    session.pin(4)
    session.set_trace(make_trace(target="<s> ▁Es ▁schlief", seed=3))
    link = linked(session.trace, session.selection, Place("source", 4))
    assert chips._shades == pytest.approx(link.across, abs=0.005)
    pixels(chips)


def test_keys_step_through_the_translation(qtbot, session, chips) -> None:
    session.select(kind=C)
    for key, step in (
        (Qt.Key.Key_Right, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_End, 10),
        (Qt.Key.Key_Right, 10),
        (Qt.Key.Key_Left, 9),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Left, 0),
    ):
        qtbot.keyClick(chips, key)
        assert session.selection.query == step
    qtbot.keyClick(chips, Qt.Key.Key_Escape)
    assert session.selection.query is None


def test_the_chosen_chip_looks_chosen(session, chips, pixels) -> None:
    session.select(kind=C)
    chips.clearFocus()  # whose frame is on the first chip until one is chosen
    areas = [rect.toRect().adjusted(6, 0, -6, 0) for rect in chips._layout.rects]
    for area in areas:
        area.setHeight(1)  # of the border; the ground also tells what the token looks at
    before = [pixels(chips, area) for area in areas]
    session.pin(2)
    after = [pixels(chips, area) for area in areas]
    changed = [bool((old != new).any()) for old, new in zip(before, after, strict=True)]
    assert changed == [step == 2 for step in range(len(areas))]


def test_the_tooltip_tells_the_probability(qtbot, trace: Trace, chips) -> None:
    point = middle(chips, 0)
    event = QHelpEvent(QHelpEvent.Type.ToolTip, point, chips.viewport().mapToGlobal(point))
    QApplication.sendEvent(chips.viewport(), event)
    assert f"{np.exp(trace.log_probabilities[0]):.4f}" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_the_translation_can_be_copied(qtbot, trace: Trace, chips) -> None:
    qtbot.keySequence(chips, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QApplication.clipboard().text() == trace.translation


def test_a_long_translation_takes_three_lines_and_scrolls(
    qtbot, session, make_trace, chips
) -> None:
    one_line = chips.height()
    session.set_trace(make_trace("▁A </s>", ["<s>"] + ["▁Wort"] * 200))
    assert one_line < chips.height() <= MOST_LINES * one_line
    assert chips.verticalScrollBar().maximum() > 0
    session.select(kind=C, query=180)
    assert chips.viewport().rect().contains(middle(chips, 180))
    session.set_trace(make_trace())
    assert chips.height() == one_line


def test_a_trace_that_predicts_nothing_shows_what_it_was_fed(session, make_trace, chips) -> None:
    full = make_trace()
    session.set_trace(
        Trace(
            source_tokens=full.source_tokens,
            target_tokens=full.target_tokens,
            attention=full.attention,
        )
    )
    assert chips._tokens == full.target_tokens


def test_an_encoder_alone_has_no_chips(qtbot, make_trace, show) -> None:
    full = make_trace()
    session = Session()
    chips = show(made(session), 600, 40)
    session.set_trace(Trace(source_tokens=full.source_tokens, attention={E: full.attention[E]}))
    qtbot.keyClick(chips, Qt.Key.Key_Right)
    assert session.selection.kind is E
    assert chips._tokens == ()


@pytest.mark.parametrize("word", ["<b>x</b>", "😀", "שלום", "x" * 300, "\ud800"], ids=ascii)
def test_any_token_can_be_a_chip(session, make_trace, chips, pixels, word: str) -> None:
    session.set_trace(make_trace("▁A </s>", ["<s>", "▁" + word, "?" + word]))
    chips.apply_theme(DARK)
    pixels(chips)
    assert all(rect.width() < 300 for rect in chips._layout.rects)


def improbable(trace: Trace, probabilities: dict[int, float]) -> Trace:
    """The trace with these probabilities of some steps and 0.9 of the others."""
    logarithms = np.full(len(trace.predicted_tokens), np.log(0.9), np.float32)
    for step, probability in probabilities.items():
        logarithms[step] = np.log(probability)
    return replace(trace, log_probabilities=logarithms)


def test_a_word_is_a_guess_by_the_product_of_its_pieces(session, trace: Trace, chips) -> None:
    assert [token.label for token in trace.predicted_tokens[2:5]] == ["sch", "lief", ","]
    session.set_trace(improbable(trace, {2: 0.7, 3: 0.7, 4: 0.1}))
    assert chips._asked == {3}, "one mark a word; a comma is none"
    assert "a guess: the word has probability 0.49" in chips.explanation(middle(chips, 2))
    assert "given the source and the tokens before it" in chips.explanation(middle(chips, 2))
    assert "a guess" not in chips.explanation(middle(chips, 4))
    session.select(kind=C, query=3)
    assert "a guess: the word has probability 0.49" in chips.accessibleDescription()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_guess_is_seen(session, trace: Trace, chips, pixels, theme) -> None:
    chips.apply_theme(theme)
    session.set_trace(improbable(trace, {}))
    sure = pixels(chips)
    session.set_trace(improbable(trace, {0: 0.4}))
    assert (pixels(chips) != sure).any(axis=-1).sum() > 50


def test_without_probabilities_nothing_is_a_guess(session, trace: Trace, chips) -> None:
    session.set_trace(replace(trace, log_probabilities=None))
    assert chips._asked == frozenset()
    assert "guess" not in chips.explanation(middle(chips, 0))
