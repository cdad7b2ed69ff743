"""The step of the decoding and the selected row are one thing."""

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Trace
from transformer_viz.state import linking
from transformer_viz.state.session import Session
from transformer_viz.state.walk import Walk


@pytest.fixture
def walk(session: Session) -> Iterator[Walk]:
    walk = Walk(session)
    yield walk
    walk.pause()


def test_it_begins_at_the_last_step(walk: Walk, trace: Trace) -> None:
    assert walk.count == len(trace.target_tokens) == 11
    assert walk.step == 10


def test_a_step_selects_its_decoder_row(walk: Walk, session: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(walk.moved, check_params_cb=lambda step: step == 4):
        walk.go_to(4)
    assert (session.selection.kind, session.selection.query) == (AttentionKind.CROSS, 4)
    session.select(kind=AttentionKind.DECODER_SELF, head=1)
    walk.move(-1)
    assert session.selection.kind is AttentionKind.DECODER_SELF
    assert (session.selection.query, session.selection.head) == (3, 1)


def test_a_selected_decoder_row_is_the_step(walk: Walk, session: Session) -> None:
    session.select(kind=AttentionKind.DECODER_SELF, query=6)
    assert walk.step == 6
    session.select(kind=AttentionKind.ENCODER_SELF)
    assert walk.step == 6


def test_a_selected_source_token_is_at_the_step_that_looks_most_at_it(
    walk: Walk, session: Session, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = trace.layers(AttentionKind.CROSS) - 1
    mean = trace.layer_weights(AttentionKind.CROSS, last).mean(axis=0)
    for token in range(len(trace.source_tokens)):
        session.select(kind=AttentionKind.ENCODER_SELF, query=token)
        assert walk.step == mean[:, token].argmax()
    monkeypatch.setattr(linking, "INLINE_CELLS", 0)
    walk.go_to(6)
    session.select(kind=AttentionKind.ENCODER_SELF, query=2)
    assert walk.step == 6, "a map too large to read at once"


@pytest.mark.parametrize(("wanted", "reached"), [(-3, 0), (0, 0), (10, 10), (99, 10)])
def test_it_has_two_ends(walk: Walk, wanted: int, reached: int) -> None:
    walk.go_to(wanted)
    assert walk.step == reached


def test_another_trace_is_at_its_end_unless_a_row_is_selected(
    walk: Walk, session: Session, make_trace: Callable[..., Trace]
) -> None:
    session.set_trace(make_trace(target="<s> ▁Das ▁Tier"))
    assert (walk.count, walk.step) == (3, 2)
    walk.go_to(1)
    session.set_trace(make_trace(target="<s> ▁Das ▁Tier ▁war"))
    assert walk.step == 1
    session.set_trace(None)
    assert (walk.count, walk.step) == (0, 0)
    walk.go_to(3)
    walk.play()
    assert not walk.playing


def test_playing_runs_to_the_end_and_stops(walk: Walk, qtbot: QtBot) -> None:
    walk.set_speed(100)
    walk.go_to(7)
    seen: list[int] = []
    walk.moved.connect(seen.append)
    walk.play()
    assert walk.playing
    qtbot.waitUntil(lambda: not walk.playing)
    assert seen == [8, 9, 10]


def test_playing_from_the_end_begins_anew(walk: Walk) -> None:
    walk.go_to(10)
    walk.toggle()
    assert (walk.step, walk.playing) == (0, True)
    walk.toggle()
    assert not walk.playing


def test_releasing_the_row_ends_the_playing(walk: Walk, session: Session) -> None:
    walk.go_to(2)
    walk.play()
    session.release()
    assert not walk.playing
    assert walk.step == 2


def test_another_trace_ends_the_playing(
    walk: Walk, session: Session, make_trace: Callable[..., Trace]
) -> None:
    walk.go_to(2)
    walk.play()
    session.set_trace(make_trace(seed=1))
    assert not walk.playing


def test_the_speed_is_in_steps_a_second(walk: Walk, qtbot: QtBot) -> None:
    walk.set_speed(8.0)
    assert walk.speed == 8.0
    walk.go_to(0)
    with qtbot.waitSignal(walk.moved, timeout=1000):
        walk.play()


def test_a_trace_without_a_decoder_has_no_steps(
    session: Session, walk: Walk, make_trace: Callable[..., Trace]
) -> None:
    made = make_trace()
    alone = {AttentionKind.ENCODER_SELF: made.attention[AttentionKind.ENCODER_SELF]}
    session.set_trace(Trace(source_tokens=made.source_tokens, attention=alone))
    assert walk.count == 0
