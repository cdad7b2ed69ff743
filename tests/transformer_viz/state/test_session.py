import numpy as np
import pytest

from core.text.tokens import Token, TokenKind
from core.trace.trace import AttentionKind, StoredAttention, Trace
from transformer_viz.state.linking import Place
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session

ENCODER, DECODER, CROSS = AttentionKind


def trace(source: str = "a b c", target: str = "x y", layers: int = 2, heads: int = 3) -> Trace:
    """Cross-attention has one layer and one head more than the other two."""
    sources = (*map(Token, source.split()), Token("</s>", kind=TokenKind.SPECIAL))
    targets = (Token("<s>", kind=TokenKind.SPECIAL), *map(Token, target.split()))

    def maps(extra: int, queries: int, keys: int) -> StoredAttention:
        shape = (layers + extra, heads + extra, queries, keys)
        return StoredAttention(np.full(shape, 1 / keys, np.float32))

    return Trace(
        source_tokens=sources,
        target_tokens=targets,
        attention={
            ENCODER: maps(0, len(sources), len(sources)),
            DECODER: maps(0, len(targets), len(targets)),
            CROSS: maps(1, len(targets), len(sources)),
        },
    )


@pytest.fixture
def session(qapp: object) -> Session:
    made = Session()
    made.set_trace(trace())
    return made


def test_a_selection_is_clamped_to_the_trace(session: Session) -> None:
    session.select(kind=CROSS, layer=99, head=99, query=99, key=99)
    assert session.selection == Selection(CROSS, 2, 3, 2, 3)
    session.select(layer=-1, head=-1)
    assert session.selection == Selection(CROSS, 0, 0, 2, 3)


def test_another_kind_clamps_its_own_layers_and_heads(session: Session) -> None:
    session.select(kind=CROSS, layer=2, head=3)
    session.select(kind=ENCODER)
    assert session.selection == Selection(ENCODER, 1, 2)


def test_a_pin_survives_another_kind_only_on_an_axis_of_the_same_side(session: Session) -> None:
    session.select(kind=CROSS, query=1, key=2)
    session.select(kind=ENCODER)
    assert (session.selection.query, session.selection.key) == (None, 2)
    session.select(kind=CROSS, query=2)
    assert (session.selection.query, session.selection.key) == (2, 2)
    session.select(kind=DECODER)
    assert (session.selection.query, session.selection.key) == (2, None)


def test_release_drops_pin_and_hover(session: Session) -> None:
    session.pin(1, 2)
    session.set_hover(0, 0)
    assert session.focus == (0, 0)
    session.release()
    assert session.focus == (None, None)
    assert session.hover == (None, None)


def test_what_the_pointer_is_on_goes_before_what_is_pinned(session: Session) -> None:
    session.pin(1)
    assert session.focus == (1, None)
    session.set_hover(2, 0)
    assert session.focus == (2, 0)
    session.set_hover(None, None)
    assert session.focus == (1, None)


def test_nothing_beyond_the_trace_is_pointed_at(session: Session) -> None:
    """A picture that is still of a longer text is under the pointer for a moment."""
    queries = len(session.trace.source_tokens)
    session.select(kind=AttentionKind.ENCODER_SELF)
    session.set_hover(queries - 1, 0)
    assert session.hover == (queries - 1, 0)
    for cell in ((queries, 0), (0, queries), (queries + 20, None)):
        session.set_hover(*cell)
        assert session.hover == (None, None)
        assert not session.is_pointing
    for side, count in (("source", queries), ("target", len(session.trace.target_tokens))):
        session.point(Place(side, count - 1))
        assert session.pointed == Place(side, count - 1)
        session.point(Place(side, count))
        assert session.hover == (None, None)
        assert not session.is_pointing


def test_a_shorter_trace_takes_selection_and_hover_back_into_bounds(session: Session) -> None:
    session.select(kind=CROSS, layer=2, head=3, key=3)
    session.set_hover(2, 3)
    session.set_trace(trace(source="a", target="x", layers=1, heads=1))
    assert session.selection == Selection(CROSS, 1, 1, None, 1)  # the key is still </s>
    assert session.hover == (None, None)


def test_a_trace_without_the_kind_falls_back_to_one_it_has(session: Session) -> None:
    session.select(kind=CROSS, query=1)
    full = trace()
    session.set_trace(
        Trace(source_tokens=full.source_tokens, attention={ENCODER: full.attention[ENCODER]})
    )
    assert session.selection == Selection(ENCODER, 0, 0)


def test_signals_tell_only_of_changes(session: Session) -> None:
    told: list[object] = []
    for signal in (session.selectionChanged, session.hoverChanged, session.traceChanged):
        signal.connect(told.append)
    session.select(layer=0)
    session.set_hover(None, None)
    session.set_trace(session.trace)
    assert told == []
    session.select(layer=1)
    session.set_hover(1, 1)
    session.set_trace(None)
    assert told == [Selection(ENCODER, 1, 0), (1, 1), None]


def test_views_see_the_new_selection_when_told_of_the_new_trace(session: Session) -> None:
    session.pin(3, 3)
    seen: list[Selection] = []
    session.traceChanged.connect(lambda _trace: seen.append(session.selection))
    session.set_trace(trace(source="q"))
    assert seen[0].query == 1  # </s>, counted from the end
