from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.analysis.composition import rollout
from core.errors import UserError
from core.switches import INTACT
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.quantities import Quantities
from transformer_viz.engine.worker import Context
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Search

CONTEXT = Context(stale=lambda: False, report=lambda text: None)
E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


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
def desk(stage: Stage) -> Quantities:
    return stage.controller.quantities


def shows(desk: Quantities, quantity: Quantity, trace: Trace | None = None) -> bool:
    found = desk.found
    current = found is not None and not desk.asking and found.quantity is quantity
    return current and (trace is None or found.of is trace)


def test_weights_are_there_at_once(stage: Stage, desk: Quantities) -> None:
    assert shows(desk, Quantity.WEIGHT, stage.session.trace)
    assert desk.found is not None
    assert desk.found.trace is stage.session.trace
    assert stage.backend.decomposed == []


def test_one_answer_serves_all_that_comes_with_it(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    session = stage.session
    session.change_options(quantity=Quantity.ALTI)
    assert desk.asking
    qtbot.waitUntil(lambda: shows(desk, Quantity.ALTI, session.trace))
    for quantity in (Quantity.NORM, Quantity.LAYER_NORM, Quantity.WEIGHT, Quantity.ALTI):
        session.change_options(quantity=quantity)
        assert shows(desk, quantity, session.trace), "kept with the trace"
    assert stage.backend.decomposed == [session.trace]


def test_another_choice_does_not_wait_for_the_one_before(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    stage.session.change_options(quantity=Quantity.ALTI)
    stage.session.change_options(quantity=Quantity.WEIGHT)
    assert shows(desk, Quantity.WEIGHT, stage.session.trace)
    qtbot.wait(50)  # an answer that nobody waits for any more would come now
    assert shows(desk, Quantity.WEIGHT, stage.session.trace)


def test_a_norm_is_the_weight_times_the_length_and_ends_at_the_largest(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    stage.session.change_options(quantity=Quantity.NORM)
    qtbot.waitUntil(lambda: shows(desk, Quantity.NORM))
    found, trace = desk.found, stage.session.trace
    assert found is not None
    assert trace is not None
    np.testing.assert_allclose(
        found.trace.weights(E, 1, 2), (1 + 1 + 2) * trace.weights(E, 1, 2), rtol=1e-6
    )
    assert found.measure(E).top == pytest.approx(4 * trace.weights(E, 1, 2).max(), rel=1e-6)
    assert found.measure(E).each == "head"


def test_rollout_takes_no_model(stage: Stage, desk: Quantities, qtbot: QtBot) -> None:
    stage.session.change_options(quantity=Quantity.ROLLOUT)
    qtbot.waitUntil(lambda: shows(desk, Quantity.ROLLOUT))
    found, trace = desk.found, stage.session.trace
    assert found is not None
    assert trace is not None
    np.testing.assert_array_equal(found.trace.weights(C, 1, 0), rollout(trace).source[1])
    assert stage.backend.decomposed == []


def test_another_sentence_is_followed_and_the_old_picture_stays_until_then(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    session = stage.session
    session.change_options(quantity=Quantity.ALTI)
    qtbot.waitUntil(lambda: shows(desk, Quantity.ALTI))
    before = desk.found
    kept: list[bool] = []
    desk.changed.connect(lambda: kept.append(desk.asking and desk.found is before))
    stage.controller.translate("d e")
    qtbot.waitUntil(lambda: shows(desk, Quantity.ALTI, session.trace) and desk.found is not before)
    assert kept == [True, False]
    assert [trace.text for trace in stage.backend.decomposed] == ["a b c", "d e"]


def test_typing_does_not_wait_for_the_sentence_before(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    session = stage.session
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    session.change_options(quantity=Quantity.ALTI)
    qtbot.waitUntil(stage.backend.busy.is_set)
    stage.controller.translate("d e")
    stage.backend.gate.set()
    qtbot.waitUntil(stage.shows("d e"))
    qtbot.waitUntil(lambda: shows(desk, Quantity.ALTI, session.trace))
    assert session.trace is stage.backend.decomposed[-1]


def test_a_question_that_typing_interrupted_is_put_again_where_no_trace_came(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    stage.session.change_options(quantity=Quantity.ALTI)
    qtbot.waitUntil(stage.backend.busy.is_set)
    stage.controller.translate("boom")
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: shows(desk, Quantity.ALTI, stage.session.trace))
    assert stage.session.trace is not None
    assert stage.session.trace.text == "a b c"


def test_another_models_answer_is_awaited(stage: Stage, desk: Quantities, qtbot: QtBot) -> None:
    session = stage.session
    session.change_options(quantity=Quantity.NORM)
    qtbot.waitUntil(lambda: shows(desk, Quantity.NORM))
    before = session.trace
    stage.controller.open(OTHER)
    qtbot.waitUntil(
        lambda: shows(desk, Quantity.NORM, session.trace) and session.trace is not before
    )
    assert stage.backend.decomposed == [before, session.trace]


def test_a_trace_is_not_put_to_the_model_that_comes_after_its_own(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    session, before = stage.session, stage.session.trace
    session.modelChanged.connect(lambda _model: session.change_options(quantity=Quantity.NORM))
    stage.controller.open(OTHER)
    qtbot.waitUntil(
        lambda: shows(desk, Quantity.NORM, session.trace) and session.trace is not before
    )
    assert stage.backend.decomposed == [session.trace]


def test_other_options_do_not_put_the_question_again(
    stage: Stage, desk: Quantities, qtbot: QtBot
) -> None:
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    stage.session.change_options(quantity=Quantity.ALTI)
    qtbot.waitUntil(stage.backend.busy.is_set)
    stage.session.change_options(threshold=0.5)
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: shows(desk, Quantity.ALTI, stage.session.trace))
    assert stage.backend.decomposed == [stage.session.trace]


def test_what_a_trace_from_a_file_lacks_is_said(
    stage: Stage, desk: Quantities, qtbot: QtBot, make_trace
) -> None:
    def refuse(trace: Trace, context: Context) -> None:
        raise UserError("This trace contains only weights.")

    stage.backend.contributions = refuse  # type: ignore[method-assign, assignment]
    stage.controller.show_trace(make_trace(), Path("one.npz"))
    stage.session.change_options(quantity=Quantity.ALTI)
    qtbot.waitUntil(lambda: bool(desk.problem))
    assert desk.found is None
    assert not desk.asking
    stage.session.change_options(quantity=Quantity.WEIGHT)
    assert desk.problem == ""
    assert shows(desk, Quantity.WEIGHT)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_real_model_moves_what_adds_up_gated_or_not(tmp_path: Path, norm: str) -> None:
    backend = TorchBackend(1)
    backend.load(save_tiny_model(tmp_path / "tiny.safetensors", norm=norm), CONTEXT)
    trace = backend.explain("The animal slept.", Search(), CONTEXT, target="Das Tier schlief.")
    found = backend.contributions(trace, CONTEXT)
    assert found.error < 1e-5
    with backend.altered({Head(E, 0, 1): 0.0}, INTACT):
        gated = backend.explain("The animal slept.", Search(), CONTEXT, target="Das Tier schlief.")
        closed = backend.contributions(gated, CONTEXT)
    assert (closed.norm(E, 0, 1) == 0).all()
    assert (found.norm(E, 0, 1) > 0).any()
