"""Through the panel: the sentence without positions or shuffled, beside the sentence itself."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.trace.variant import Variant
from tests.transformer_viz.stage import GOOD, Stage
from transformer_viz.drawing.theme import scaled_font
from transformer_viz.positions.positions import Positions
from transformer_viz.positions.variant_maps import MARGIN
from transformer_viz.positions.what_if_panel import variant_statement


@pytest.fixture
def stage(qapp: object) -> Iterator[Stage]:
    made = Stage()
    yield made
    made.backend.gate.set()
    made.controller.close()


Open = Callable[..., Positions]


@pytest.fixture
def open_view(stage: Stage, show: Callable[..., Positions], qtbot: QtBot) -> Open:
    """The view on its page of what-if, on a sentence."""

    def open_view(text: str = "the dog slept") -> Positions:
        view = Positions(stage.session, stage.controller.what_if)
        show(view, 820, 640)
        view.show_page("what_if")
        stage.controller.translate(text)
        stage.controller.open(GOOD)
        qtbot.waitUntil(stage.shows(text))
        return view

    return open_view


def test_the_buttons_bring_the_variant(open_view: Open, stage: Stage, qtbot: QtBot) -> None:
    view = open_view()
    panel, desk = view.what_if, stage.controller.what_if
    assert "Turn positions off" in panel.statement.text()
    assert not panel.canvas.isVisible()
    qtbot.mouseClick(panel.shuffle, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert panel.sentences[0].text() == "the dog slept"
    assert panel.sentences[1].text() == "slept dog the"
    assert panel.translations[1].text() == "→ SLEPT DOG THE"
    titles = [one.title for one in panel.canvas.maps]
    assert titles == ["In order", "Put back in order", "In another order"]
    assert "With positions, word order matters" in panel.statement.text()
    assert "0.250" in panel.statement.text()
    QTest.keyClick(panel.off, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert desk.wish.seed == 1
    assert not desk.wish.positions
    QTest.keyClick(panel.shuffle, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert [one.title for one in panel.canvas.maps] == ["With positions", "Without positions"]


def test_again_shuffles_with_the_next_seed(open_view: Open, stage: Stage, qtbot: QtBot) -> None:
    view = open_view()
    panel = view.what_if
    for seed in (1, 2, 3):
        qtbot.mouseClick(panel.again, Qt.MouseButton.LeftButton)
        assert stage.controller.what_if.wish.seed == seed
        assert panel.seed.value() == seed
    qtbot.mouseClick(panel.shuffle, Qt.MouseButton.LeftButton)
    assert stage.controller.what_if.wish.seed is None


def test_the_same_pair_of_tokens_lights_up_in_every_map(
    open_view: Open, stage: Stage, qtbot: QtBot
) -> None:
    view = open_view()
    panel = view.what_if
    panel.shuffle.click()
    qtbot.waitUntil(lambda: stage.controller.what_if.variant is not None)
    shuffled = panel.canvas.layout_now().cell_rect(2, 0, 2)  # slept → the
    qtbot.mouseMove(panel.canvas, shuffled.center().toPoint())
    qtbot.waitUntil(lambda: panel.canvas.focus == (2, 0))
    assert panel.reading.text() == "slept → the: 0.2500 and 0.2500, difference 0"
    assert panel.canvas.accessibleDescription() == panel.reading.text()
    QTest.keyClick(panel.canvas, Qt.Key.Key_Up)
    assert panel.canvas.focus == (1, 0)


def test_maps_take_what_room_there_is(open_view: Open, stage: Stage, qtbot: QtBot) -> None:
    """Rows of one order have their labels once, and every row has one."""
    view = open_view(text="the big brown dog slept because it was so very tired")
    panel = view.what_if
    panel.shuffle.click()
    qtbot.waitUntil(lambda: stage.controller.what_if.variant is not None)
    panel.canvas.resize(560, 300)
    layout = panel.canvas.layout_now()
    assert layout.labelled == (True, False, True)
    last = layout.cells[-1]
    assert last.right() + MARGIN == pytest.approx(560, abs=3)
    line = QFontMetricsF(scaled_font(panel.canvas.font(), 0.75)).height()
    assert layout.cell.height() >= line > layout.cell.width()
    assert layout.cell_rect(2, 11, 11).bottom() == pytest.approx(last.bottom())
    assert layout.cell_at(last.center() + QPointF(1, 1)) == (2, 6, 6)


def test_a_map_that_is_put_back_is_the_one_that_was_shuffled(
    open_view: Open, stage: Stage, qtbot: QtBot
) -> None:
    view = open_view()
    panel = view.what_if
    panel.shuffle.click()
    qtbot.waitUntil(lambda: stage.controller.what_if.variant is not None)
    _, back, shuffled = panel.canvas.maps
    order = np.array(shuffled.order)
    assert np.array_equal(back.codes[np.ix_(order, order)], shuffled.codes)
    assert [back.tokens[i].label for i in order] == [token.label for token in shuffled.tokens]


def test_a_decoder_head_stands_for_the_encoder_head_of_its_number(
    open_view: Open, stage: Stage, qtbot: QtBot
) -> None:
    view = open_view()
    panel = view.what_if
    panel.off.click()
    qtbot.waitUntil(lambda: stage.controller.what_if.variant is not None)
    stage.session.select(kind=stage.session.trace.kinds[2], layer=1, head=1)  # type: ignore[union-attr]
    assert panel.head.text() == "Encoder self · layer 2 · head 2"


def test_a_failure_is_said_and_nothing_is_drawn(
    open_view: Open, stage: Stage, qtbot: QtBot
) -> None:
    view = open_view(text="alone")
    panel = view.what_if
    panel.shuffle.click()
    qtbot.waitUntil(lambda: panel.statement.text() == "There is nothing to shuffle.")
    assert panel.statement.property("role") == "error"
    assert not panel.canvas.isVisible()


def test_only_what_is_looked_at_is_computed(open_view: Open, stage: Stage, qtbot: QtBot) -> None:
    view = open_view()
    view.what_if.off.click()
    qtbot.waitUntil(lambda: stage.controller.what_if.variant is not None)
    asked = len(stage.backend.asked)
    view.show_page("grid")
    stage.controller.translate("another one")
    qtbot.waitUntil(stage.shows("another one"))
    qtbot.wait(200)
    assert len(stage.backend.asked) == asked
    view.show_page("what_if")
    qtbot.waitUntil(lambda: len(stage.backend.asked) == asked + 1)


@pytest.fixture
def variant(trace: object) -> Variant:
    order = (2, 0, 1, *range(3, 9))
    return Variant(reference=trace, trace=trace, order=order, positions=False, difference=3e-7)  # type: ignore[arg-type]


def test_the_statement_says_what_differs(variant: Variant) -> None:
    assert variant_statement(variant) == (
        "The same weights, only permuted: put back in order, the largest difference over all 6 "
        "encoder heads is 3·10⁻⁷. So both orders get the same translation."
    )
    assert "more than rounding" in variant_statement(replace(variant, difference=0.02))
    assert "word order matters" in variant_statement(replace(variant, positions=True))
    straight = replace(variant, order=tuple(range(9)), difference=0.5)
    assert variant_statement(straight).startswith("Without positions, the largest difference")


def test_words_are_swapped_by_dragging_and_by_keys_and_put_back(
    open_view: Open, stage: Stage, qtbot: QtBot
) -> None:
    view = open_view()
    panel, desk = view.what_if, stage.controller.what_if
    assert [token.label for token in panel.words.tokens] == ["the", "dog", "slept"]
    assert not panel.restore.isEnabled()

    def middle(index: int) -> QPoint:
        return panel.words.rect_of(index).center().toPoint()

    QTest.mousePress(panel.words.viewport(), Qt.MouseButton.LeftButton, pos=middle(1))
    QTest.mouseMove(panel.words.viewport(), middle(2))
    QTest.mouseRelease(panel.words.viewport(), Qt.MouseButton.LeftButton, pos=middle(2))
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert panel.sentences[1].text() == "the slept dog"
    assert panel.names[1].text() == "In another order"
    assert [token.label for token in panel.words.tokens] == ["the", "slept", "dog"]
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Space):
        QTest.keyClick(panel.words, key)
    assert "lifted" in panel.words.accessibleDescription()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Space):
        QTest.keyClick(panel.words, key)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert panel.sentences[1].text() == "dog slept the"
    qtbot.mouseClick(panel.reverse, Qt.MouseButton.LeftButton)
    assert [token.label for token in panel.words.tokens] == ["the", "slept", "dog"]
    qtbot.mouseClick(panel.restore, Qt.MouseButton.LeftButton)
    assert desk.wish.nothing
    qtbot.mouseClick(panel.shuffle, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desk.variant is not None)
    desk.swap(0, 1)
    assert not panel.shuffle.isChecked()
