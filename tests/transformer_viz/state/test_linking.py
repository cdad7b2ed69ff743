"""Against maps small enough to follow by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.state.linking import (
    MOST_ATTENDED,
    Place,
    cell_of,
    followed_heads,
    linked,
    place_of,
    source_shades,
    target_shades,
)
from transformer_viz.state.selection import Selection

E, D, C = AttentionKind
LAST = Selection(E, 1, 0)

# queries × keys; source "a b </s>", fed "<s> x", predicted "x </s>"
ENCODER = [[0.1, 0.9, 0.0], [0.5, 0.3, 0.2], [0.0, 0.0, 1.0]]
DECODER = [[1.0, 0.0], [0.4, 0.6]]
CROSS = [[0.8, 0.2, 0.0], [0.1, 0.5, 0.4]]


@pytest.fixture
def small(make_trace: Callable[..., Trace]) -> Trace:
    """Two layers of one head: the first spreads evenly, the second is as above."""

    def maps(last: list[list[float]]) -> np.ndarray:
        return np.array([[np.full_like(last, 1 / len(last[0]))], [last]])

    return make_trace(
        "▁a ▁b </s>", "<s> ▁x", maps={E: maps(ENCODER), D: maps(DECODER), C: maps(CROSS)}
    )


def test_a_target_token_leads_across_and_on_into_the_encoder(small: Trace) -> None:
    link = linked(small, LAST, Place("target", 1))
    assert link.across == pytest.approx(CROSS[1])
    assert link.own == pytest.approx(DECODER[1])
    assert link.attended == (1, 2), "0.5 alone is less than 70 %"
    assert link.onward == pytest.approx(
        (0.5 * np.array(ENCODER[1]) + 0.4 * np.array(ENCODER[2])) / 0.9
    )
    assert link.rows(E) == (1, 2)
    assert link.rows(D) == link.rows(C) == (1,)


def test_a_source_token_leads_to_the_rows_that_look_at_it(small: Trace) -> None:
    link = linked(small, LAST, Place("source", 0))
    assert link.own == pytest.approx(ENCODER[0])
    assert link.across == pytest.approx([0.8, 0.1])
    assert link.attended == (0,)
    assert link.onward == pytest.approx(DECODER[0])
    assert link.rows(E) == (0,)
    assert link.rows(D) == link.rows(C) == (0,)


def test_words_are_lit_by_the_weight_on_them(small: Trace) -> None:
    target = linked(small, LAST, Place("target", 1))
    assert source_shades(small, target) == pytest.approx(CROSS[1])
    assert target_shades(small, target) == pytest.approx([0.6, 0.0]), "row 0 predicts key 1"
    source = linked(small, LAST, Place("source", 1))
    assert source_shades(small, source) == pytest.approx(ENCODER[1])
    assert target_shades(small, source) == pytest.approx([0.2, 0.5])


def test_a_trace_that_predicts_nothing_is_lit_by_its_inputs(small: Trace) -> None:
    fed = replace(small, predicted_tokens=())
    assert target_shades(fed, linked(fed, LAST, Place("target", 1))) == pytest.approx([0.4, 0.6])


def test_the_selected_heads_are_followed_in_their_kind(small: Trace) -> None:
    selection = Selection(kind=C, layer=0, others=((1, 0),))
    link = linked(small, selection, Place("target", 1))
    assert link.across == pytest.approx((np.array(CROSS[1]) + 1 / 3) / 2)
    assert link.own == pytest.approx(DECODER[1]), "in other kinds the last layer"


def test_other_kinds_follow_all_heads_of_their_last_layer(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(encoder=(2, 3), decoder=(4,))
    assert followed_heads(trace, Selection(kind=E, layer=0, head=1), E) == (Head(E, 0, 1),)
    assert followed_heads(trace, Selection(kind=C), E) == tuple(Head(E, 1, h) for h in range(3))
    link = linked(trace, Selection(kind=E), Place("target", 3))
    rows = [trace.row(C, 0, head, 3) for head in range(4)]
    assert link.across == pytest.approx(np.mean(rows, axis=0), abs=1e-6)


def test_an_encoder_alone_links_within_itself(make_trace: Callable[..., Trace]) -> None:
    full = make_trace()
    alone = Trace(source_tokens=full.source_tokens, attention={E: full.attention[E]})
    link = linked(alone, Selection(), Place("source", 2))
    assert link.own is not None
    assert (link.across, link.attended, link.onward) == (None, (), None)
    assert len(target_shades(alone, link)) == 0


def test_a_long_text_is_followed_into_a_few_rows(make_trace: Callable[..., Trace]) -> None:
    source = 200
    even = np.full((1, 1, 2, source), 1 / source)
    trace = make_trace(["▁a"] * source, "<s> ▁x", maps={C: even})
    assert len(linked(trace, Selection(), Place("target", 0)).attended) == MOST_ATTENDED


@pytest.mark.parametrize(
    ("row", "attended"),
    [
        ([0.2, 0.7, 0.1], (1,)),
        ([0.3, 0.2, 0.5], (2, 0)),
        ([0.0, 0.0, 1.0], (2,)),
        ([0.1] * 10, (0, 1, 2, 3, 4)),
    ],
)
def test_the_attended_carry_the_share_heaviest_first(
    make_trace: Callable[..., Trace], row: list[float], attended: tuple[int, ...]
) -> None:
    trace = make_trace(["▁a"] * len(row), "<s>", maps={C: np.array([[[row]]])})
    assert linked(trace, Selection(), Place("target", 0)).attended == attended


@pytest.mark.parametrize(
    ("kind", "cell", "place"),
    [
        (E, (2, 0), Place("source", 2)),
        (E, (None, 1), Place("source", 1)),
        (C, (1, 2), Place("target", 1)),
        (C, (None, 2), Place("source", 2)),
        (D, (1, 0), Place("target", 1)),
        (D, (None, 1), Place("target", 0)),  # the key is what row 0 predicted
        (D, (None, 0), None),  # no row predicts the begin token
        (C, (None, None), None),
    ],
)
def test_a_cell_points_at_its_query_else_at_its_key(small, kind, cell, place) -> None:
    assert place_of(small, kind, cell) == place


@pytest.mark.parametrize(
    ("kind", "place", "cell"),
    [
        (E, Place("source", 2), (2, None)),
        (E, Place("target", 1), (None, None)),
        (C, Place("target", 1), (1, None)),
        (C, Place("source", 1), (None, 1)),
        (D, Place("target", 1), (1, None)),
        (D, Place("source", 1), (None, None)),
    ],
)
def test_a_token_is_a_row_else_a_column(kind, place, cell) -> None:
    assert cell_of(kind, place) == cell
