import numpy as np
import pytest

from core.trace.trace import AttentionKind
from transformer_viz.state import linking
from transformer_viz.state.linking import Place, linked
from transformer_viz.state.session import Session
from transformer_viz.widgets.spotlight import Spotlight

E, D, C = AttentionKind


@pytest.fixture
def spotlight(session: Session) -> Spotlight:
    return Spotlight(session, session)


def test_it_follows_what_is_pointed_at_else_what_is_pinned(session, spotlight) -> None:
    assert spotlight.linked is None
    session.pin(4)
    assert spotlight.linked.place == Place("source", 4)
    session.point(Place("target", 2))
    assert spotlight.linked.place == Place("target", 2)
    session.point(None)
    assert spotlight.linked.place == Place("source", 4)
    session.release()
    assert spotlight.linked is None


def test_other_heads_light_anew_and_the_same_ones_do_not(qtbot, session, spotlight) -> None:
    session.point(Place("target", 2))
    first = spotlight.linked
    session.select(layer=1, head=2)
    assert not np.array_equal(spotlight.linked.onward, first.onward)
    with qtbot.assertNotEmitted(spotlight.changed):
        session.select(layer=1, head=2)


def test_a_new_trace_is_followed_and_none_goes_dark(session, make_trace, spotlight) -> None:
    session.pin(4)
    old = spotlight.linked
    session.set_trace(make_trace(seed=7))
    assert spotlight.linked is not old
    assert spotlight.linked.own == pytest.approx(session.trace.row(E, 0, 0, 4))
    session.set_trace(None)
    assert spotlight.linked is None


def test_a_long_text_lights_up_beside_the_event_loop(
    qtbot, session, spotlight, monkeypatch
) -> None:
    monkeypatch.setattr(linking, "INLINE_CELLS", 0)
    session.point(Place("source", 4))
    assert spotlight.linked is None
    qtbot.waitUntil(lambda: spotlight.linked is not None)
    expected = linked(session.trace, session.selection, Place("source", 4))
    assert spotlight.linked.across == pytest.approx(expected.across)
