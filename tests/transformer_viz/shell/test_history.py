from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.shell.history import MOST_MOMENTS, PAUSE, History


class Past(Stage):
    """A stage with a history and a clock that a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.history = History(self.session, self.controller, clock=lambda: self.time)

    def type(self, text: str) -> None:
        """One keystroke after another, a tenth of a second apart."""
        for end in range(len(self.session.text), len(text)):
            self.time += 0.1
            self.controller.translate(text[: end + 1])


@pytest.fixture
def past(qapp: object, qtbot: QtBot) -> Iterator[Past]:
    made = Past()
    made.controller.translate("a b")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b"))
    made.history.clear()
    yield made
    made.backend.gate.set()
    made.controller.close()


def test_a_selection_is_undone_and_redone(past: Past) -> None:
    first = past.session.selection
    past.session.select(layer=0, head=1)
    past.session.pin(1, 0)
    second = past.session.selection
    past.history.undo()
    past.history.undo()
    assert past.session.selection == first
    assert not past.history.can_undo
    past.history.undo()
    past.history.redo()
    past.history.redo()
    assert past.session.selection == second
    assert not past.history.can_redo


def test_a_run_of_typing_is_one_step(past: Past, qtbot: QtBot) -> None:
    past.type("a b is")
    past.time += 2 * PAUSE
    past.type("a b is red")
    past.history.undo()
    assert past.session.text == "a b is"
    past.history.undo()
    assert past.session.text == "a b"
    qtbot.waitUntil(past.shows("a b"))
    past.history.redo()
    past.history.redo()
    qtbot.waitUntil(past.shows("a b is red"))


def test_typing_over_a_selection_is_undone_as_a_whole(past: Past) -> None:
    past.type("a b is red")
    past.time += 0.1
    past.controller.translate("T")  # all of it was selected
    past.type("The")
    past.history.undo()
    assert past.session.text == "a b is red"
    past.history.undo()
    assert past.session.text == "a b"


def test_deleting_a_selection_and_typing_on_is_one_step(past: Past) -> None:
    past.controller.translate("a")
    past.type("a c")
    past.history.undo()
    assert past.session.text == "a b"


def test_a_run_of_moves_from_cell_to_cell_is_one_step(past: Past) -> None:
    past.session.pin(0, 0)
    for query in (1, 2):
        past.time += 0.9  # as a decoding plays
        past.session.select(query=query)
    past.time += 2 * PAUSE
    past.session.select(key=1)
    past.history.undo()
    assert (past.session.selection.query, past.session.selection.key) == (2, 0)
    past.history.undo()
    assert (past.session.selection.query, past.session.selection.key) == (0, 0)


def test_a_pasted_text_is_a_step_of_its_own(past: Past) -> None:
    past.type("a b cd")
    past.controller.translate("a pasted text")
    past.type("a pasted text!")
    past.history.undo()
    assert past.session.text == "a pasted text"
    past.history.undo()
    assert past.session.text == "a b cd"


def test_text_and_selection_are_one_line(past: Past, qtbot: QtBot) -> None:
    """What was selected in a text comes back with its trace."""
    past.session.pin(1, 1)
    pinned = past.session.selection
    past.controller.translate("other words now")
    qtbot.waitUntil(past.shows("other words now"))
    past.session.select(layer=1, head=0)
    past.history.undo()
    assert past.session.text == "other words now"
    past.history.undo()
    qtbot.waitUntil(past.shows("a b"))
    assert past.session.selection == pinned


def test_what_follows_by_itself_is_no_step(past: Past, qtbot: QtBot) -> None:
    past.session.pin(1, 1)
    past.controller.translate("new a b")  # the pin moves along
    qtbot.waitUntil(past.shows("new a b"))
    assert past.session.selection.query == 2
    past.session.set_hover(0, 0)
    past.history.undo()
    assert past.session.text == "a b"


def test_a_new_act_ends_what_could_be_redone(past: Past) -> None:
    past.session.select(head=1)
    past.history.undo()
    assert past.history.can_redo
    past.session.select(head=0)
    assert not past.history.can_redo


def test_the_past_is_bounded(past: Past) -> None:
    for number in range(MOST_MOMENTS + 20):
        past.session.select(layer=0, head=number % 2)
    steps = 0
    while past.history.can_undo:
        past.history.undo()
        steps += 1
    assert steps == MOST_MOMENTS


OFF = {Head(AttentionKind.ENCODER_SELF, 1, 2): 0.0}


def test_gates_are_undone_and_redone(past: Past, qtbot: QtBot) -> None:
    past.session.set_gates(OFF)
    past.session.select(head=1)
    past.history.undo()
    assert past.session.gates == OFF
    past.history.undo()
    assert past.session.gates == {}
    qtbot.waitUntil(lambda: past.session.trace.translation == "A B")
    past.history.redo()
    qtbot.waitUntil(lambda: past.session.trace.translation == "A B OFF")
    assert past.session.gates == OFF


def test_a_run_of_scalings_is_one_step(past: Past) -> None:
    (head,) = OFF
    for factor in (0.9, 0.8, 0.7):
        past.time += 0.1
        past.session.set_gates({head: factor})
    past.session.set_gates(OFF)
    past.history.undo()
    assert past.session.gates == {head: 0.7}
    past.history.undo()
    assert past.session.gates == {}


def test_no_step_back_gates_the_heads_of_another_model(past: Past, qtbot: QtBot) -> None:
    past.session.set_gates(OFF)
    past.session.select(head=1)
    past.controller.open(OTHER)
    qtbot.waitUntil(lambda: past.session.model.path == OTHER)
    past.history.undo()
    assert past.session.gates == {}
