"""Gates of the window: the translation follows, and what changed is said."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.switches import INTACT
from core.trace.trace import AttentionKind, Head
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import GOOD, OTHER, Stage, word_trace
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.worker import Context
from transformer_viz.gates.gating import Gating, log_probability, output_ids
from transformer_viz.state.gates import ALL_ON
from transformer_viz.state.session import Search

E, C = AttentionKind.ENCODER_SELF, AttentionKind.CROSS
IT = Head(E, 1, 2)
TEXT = "The animal didn't cross the street."


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    made = Stage()
    made.controller.translate("a b it c")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b it c"))
    yield made
    made.backend.gate.set()
    made.controller.close()


@pytest.fixture
def gating(stage: Stage) -> Gating:
    return stage.controller.gating


def translation(stage: Stage) -> str:
    return "" if stage.session.trace is None else stage.session.trace.translation


def test_a_gate_translates_again_and_says_what_changed(
    stage: Stage, gating: Gating, qtbot: QtBot
) -> None:
    before = stage.session.trace
    stage.session.set_gates({IT: 0.0})
    qtbot.waitUntil(lambda: gating.change is not None and gating.change.kept is not None)
    assert translation(stage) == "A B IT C OFF"
    change = gating.change
    assert (change.before, change.after) == (before, stage.session.trace)
    assert not change.same
    assert log_probability(change.before) == pytest.approx(5 * -0.5)
    assert log_probability(change.after) == pytest.approx(6 * -0.5)
    assert change.kept == pytest.approx(5 * -1.5)
    assert len(stage.backend.explained) == 2, "the translation from before was known"


def test_all_on_again_is_the_model_as_it_was(stage: Stage, gating: Gating, qtbot: QtBot) -> None:
    stage.session.set_gates({IT: 0.0})
    qtbot.waitUntil(lambda: gating.change is not None)
    stage.session.set_gates(ALL_ON)
    qtbot.waitUntil(lambda: translation(stage) == "A B IT C")
    assert gating.change is None


def test_a_translation_that_stays_is_not_asked_for_twice(
    stage: Stage, gating: Gating, qtbot: QtBot
) -> None:
    stage.session.set_gates({IT: 0.5})
    qtbot.waitUntil(lambda: gating.change is not None)
    assert gating.change.same
    assert gating.change.kept == pytest.approx(5 * -0.5)


def test_a_text_typed_with_gates_is_compared_with_all_heads_on(
    stage: Stage, gating: Gating, qtbot: QtBot
) -> None:
    stage.session.set_gates({IT: 0.0})
    stage.controller.translate("x y")
    qtbot.waitUntil(lambda: gating.change is not None and gating.change.after.text == "x y")
    assert gating.change.before.translation == "X Y"
    assert gating.change.after.translation == "X Y OFF"


def test_another_search_is_compared_with_what_it_finds_itself(
    stage: Stage, gating: Gating, qtbot: QtBot
) -> None:
    stage.session.set_gates({IT: 0.0})
    qtbot.waitUntil(lambda: gating.change is not None and gating.change.kept is not None)
    before = gating.change.before
    other = Search(beam=3)
    assert stage.controller.search != other
    stage.controller.set_search(other)
    qtbot.waitUntil(lambda: gating.change is not None and gating.change.before is not before)
    assert [search for _, search in stage.backend.explained[-2:]] == [other, other]


def test_a_text_that_fails_says_so(stage: Stage, gating: Gating, qtbot: QtBot) -> None:
    stage.session.set_gates({IT: 0.0})
    qtbot.waitUntil(lambda: gating.change is not None)
    stage.controller.translate("")
    assert gating.change is None


def test_an_answer_of_older_gates_is_never_shown(
    stage: Stage, gating: Gating, qtbot: QtBot
) -> None:
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    stage.session.set_gates({IT: 0.0, Head(E, 1, 1): 0.0})
    qtbot.waitUntil(stage.backend.busy.is_set)
    stage.session.set_gates({IT: 0.0})
    shown = len(stage.traces)
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: translation(stage) == "A B IT C OFF")
    assert len(stage.traces) == shown + 1


def test_the_selection_stays(stage: Stage, qtbot: QtBot) -> None:
    stage.session.select(kind=C, layer=1, head=2, query=1, key=2)
    before = stage.session.selection
    stage.session.set_gates({IT: 0.0})
    qtbot.waitUntil(lambda: translation(stage) == "A B IT C OFF")
    assert stage.session.selection == before


def test_another_model_has_all_its_heads_on(stage: Stage, qtbot: QtBot) -> None:
    stage.session.set_gates({IT: 0.0})
    stage.controller.open(OTHER)
    qtbot.waitUntil(lambda: stage.session.model is not None and stage.session.model.path == OTHER)
    assert stage.session.gates == ALL_ON


def test_a_model_that_passes_by_keeps_the_gates(stage: Stage, qtbot: QtBot) -> None:
    stage.session.set_gates({IT: 0.0})
    stage.controller.open(OTHER, passing=True)
    qtbot.waitUntil(lambda: stage.session.model is not None and stage.session.model.path == OTHER)
    assert stage.session.gates == {IT: 0.0}


def test_a_model_that_cannot_be_read_leaves_the_gates(stage: Stage, qtbot: QtBot) -> None:
    stage.session.set_gates({IT: 0.0})
    stage.controller.open(Path("bad.safetensors"))
    qtbot.waitUntil(lambda: bool(stage.notices))
    assert stage.session.gates == {IT: 0.0}


def test_heads_that_the_model_does_not_have_are_left_out(stage: Stage) -> None:
    stage.session.set_gates({IT: 0.0, Head(E, 7, 0): 0.0, Head(C, 0, 3): 0.0})
    assert stage.session.gates == {IT: 0.0}


def test_the_second_sentence_is_read_with_the_same_gates(stage: Stage, qtbot: QtBot) -> None:
    comparison = stage.controller.comparison
    comparison.watch(True)
    comparison.choose_text("x")
    qtbot.waitUntil(lambda: len(stage.backend.compared) == 1)
    stage.session.set_gates({IT: 0.0})
    qtbot.waitUntil(lambda: len(stage.backend.compared) == 2)


def test_ids_and_log_probability_are_those_of_the_tokens_predicted() -> None:
    trace = word_trace("a b", step=-0.25)
    assert output_ids(trace) == (4, 5, 3)
    assert log_probability(trace) == pytest.approx(-0.75)


# With a real model


def test_the_backend_gates_every_answer_and_no_other(tmp_path: Path) -> None:
    context = Context(stale=lambda: False, report=lambda _text: None)
    backend = TorchBackend(threads=1)
    backend.load(save_tiny_model(tmp_path / "tiny.safetensors"), context)
    every = {Head(C, layer, head): 0.0 for layer in range(3) for head in range(4)}

    def queries() -> np.ndarray:
        trace = backend.hypothesis(TEXT, [5, 6, 7], context)
        return trace.weights(C, 2, 0)

    plain = queries()
    with backend.altered(ALL_ON, INTACT):
        np.testing.assert_array_equal(queries(), plain)
    with backend.altered({**every, Head(E, 9, 9): 0.0}, INTACT):
        assert np.abs(queries() - plain).max() > 1e-6
        other = backend.hypothesis("street", [5, 6, 7], context)
        own = backend.hypothesis(TEXT, [5, 6, 7], context)
        np.testing.assert_allclose(
            own.log_probabilities,
            other.log_probabilities,
            atol=1e-6,
            err_msg="without cross-attention every source is the same",
        )
    np.testing.assert_array_equal(queries(), plain)
