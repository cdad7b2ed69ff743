from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.switches import INTACT, Scaling, Switches
from core.trace.trace import AttentionKind, ComputedAttention, Head
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.recorded_states import AT_ONCE, FROM_A_FILE, RecordedStates
from transformer_viz.engine.worker import Context
from transformer_viz.state.linking import Place
from transformer_viz.state.session import Search

CONTEXT = Context(stale=lambda: False, report=lambda text: None)


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    """A stage that shows the translation of "a b c"."""
    made = Stage()
    made.controller.translate("a b c")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b c"))
    yield made
    made.backend.gate.set()
    made.controller.close()


@pytest.fixture
def states(stage: Stage) -> RecordedStates:
    return stage.controller.states


def test_nothing_is_recorded_until_a_view_watches_nor_kept_after(
    stage: Stage, states: RecordedStates, qtbot: QtBot
) -> None:
    stage.controller.translate("d e")
    qtbot.waitUntil(stage.shows("d e"))
    assert stage.backend.recorded == []
    first, second = object(), object()
    states.watch(first, True)
    states.watch(second, True)
    qtbot.waitUntil(lambda: states.current is not None)
    assert [one[0] for one in stage.backend.recorded] == [stage.session.trace]
    states.watch(first, False)
    assert states.current is not None, "the second one still watches"
    states.watch(second, False)
    assert states.found is None
    stage.controller.translate("f")
    qtbot.waitUntil(stage.shows("f"))
    assert len(stage.backend.recorded) == 1


def test_the_next_sentence_and_the_next_model_are_followed(
    stage: Stage, states: RecordedStates, qtbot: QtBot
) -> None:
    states.watch(stage, True)
    qtbot.waitUntil(lambda: states.current is not None)
    before = states.found
    kept: list[bool] = []
    states.changed.connect(lambda: kept.append(states.asking and states.found is before))
    stage.controller.translate("d e")
    qtbot.waitUntil(lambda: stage.shows("d e")() and states.current is not None)
    assert kept == [True, False], "shown until the new ones are there"
    stage.controller.open(OTHER)
    last = stage.session.trace
    qtbot.waitUntil(lambda: stage.session.trace is not last and states.current is not None)
    assert [one[0].text for one in stage.backend.recorded] == ["a b c", "d e", "d e"]


def test_typing_does_not_wait_for_the_states_of_the_sentence_before(
    stage: Stage, states: RecordedStates, qtbot: QtBot
) -> None:
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    states.watch(stage, True)
    qtbot.waitUntil(stage.backend.busy.is_set)
    stage.controller.translate("boom")
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: states.current is not None)
    assert states.found is not None
    assert states.found.trace.text == "a b c", "asked for again, since no other trace came"


def test_of_a_long_text_the_tokens_around_the_chosen_one_are_recorded(
    stage: Stage, states: RecordedStates, qtbot: QtBot
) -> None:
    text = " ".join(["a"] * 200)
    stage.controller.translate(text)
    qtbot.waitUntil(stage.shows(text))
    states.watch(stage, True)
    qtbot.waitUntil(lambda: states.current is not None)
    assert stage.backend.recorded[-1][1] == range(AT_ONCE)
    far = Place("source", 150)
    assert states.current is not None
    assert states.current.row(far) is None
    states.show(far)
    qtbot.waitUntil(lambda: states.current is not None and states.current.row(far) is not None)
    found = states.current
    row = found.row(far)
    assert row is not None
    np.testing.assert_array_equal(found.stack("source").embedded[row], [150, 150])
    assert found.stack("target").positions == tuple(range(AT_ONCE))
    asked = len(stage.backend.recorded)
    states.show(Place("source", 151))
    assert not states.asking
    assert len(stage.backend.recorded) == asked


def test_a_trace_from_a_file_says_why_it_has_none(
    stage: Stage, states: RecordedStates, qtbot: QtBot, make_trace
) -> None:
    trace = make_trace(["?a", "</s>"])
    object.__setattr__(trace.source_tokens[0], "id", -1)
    states.watch(stage, True)
    stage.controller.show_trace(trace, Path("one.npz"))
    qtbot.waitUntil(lambda: states.problem == FROM_A_FILE)
    assert states.current is None
    stage.controller.translate("d e")
    qtbot.waitUntil(lambda: states.current is not None)
    assert states.problem == ""


def test_a_real_model_records_the_pass_that_made_the_trace_gated_alike(tmp_path: Path) -> None:
    backend = TorchBackend(1)
    info = backend.load(save_tiny_model(tmp_path / "tiny.safetensors"), CONTEXT)
    assert info.config is not None
    assert info.config.decoder_layers == 3
    off = Head(AttentionKind.ENCODER_SELF, 0, 1)
    target = "Das Tier schlief."
    with backend.altered({off: 0.0}, INTACT):
        trace = backend.explain("The animal slept.", Search(), CONTEXT, target=target)
        states = backend.states(trace, range(2), range(1), CONTEXT)
    hidden = states.encoder.layers[0][0].hidden  # [2, H·d_v], the second head's half is 0
    assert states.encoder.positions == (0, 1)
    assert states.decoder.positions == (0,)
    assert (hidden[:, 8:] == 0).all()
    assert (hidden[:, :8] != 0).any()


def test_a_pass_with_switches_is_recorded_with_the_same_ones(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(TorchBackend(1))  # type: ignore[arg-type]
    stage.engine.set_switches(Switches(scaling=Scaling.OFF))
    stage.controller.translate("The animal slept.")
    stage.controller.open(save_tiny_model(tmp_path / "tiny.safetensors"))
    stage.controller.states.watch(stage, True)
    qtbot.waitUntil(lambda: stage.controller.states.current is not None)
    found = stage.controller.states.current
    assert found is not None
    head = Head(AttentionKind.ENCODER_SELF, 0, 1)
    attention = found.trace.attention[head.kind]
    assert isinstance(attention, ComputedAttention)
    output = found.trace.weights(*head) @ attention.projections[0].value[1]
    hidden = found.states.encoder.layers[0][0].hidden[:, 8:]
    assert found.trace.switches.scaling is Scaling.OFF
    np.testing.assert_allclose(hidden, output, atol=1e-6)
    stage.controller.close()
