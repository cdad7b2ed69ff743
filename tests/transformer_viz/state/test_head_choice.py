from hypothesis import given
from hypothesis import strategies as st

from core.trace.trace import AttentionKind, Head
from transformer_viz.state.head_choice import extended, only, toggled
from transformer_viz.state.selection import Selection, changed

E, D, C = AttentionKind
ORDER = [Head(kind, layer, head) for kind in (E, C) for layer in range(3) for head in range(4)]

places = st.tuples(st.integers(0, 2), st.integers(0, 3))
selections = st.builds(
    lambda current, others: Selection(E, *current, others=tuple(sorted(set(others) - {current}))),
    places,
    st.lists(places, max_size=5),
)


def test_several_heads_keep_the_current_one_if_it_is_among_them() -> None:
    layer = [Head(E, 1, head) for head in range(4)]
    among = changed(Selection(E, 1, 2), **only(layer, Selection(E, 1, 2)))
    assert (among.primary, among.heads) == (Head(E, 1, 2), tuple(layer))
    elsewhere = changed(Selection(E, 0, 2), **only(layer, Selection(E, 0, 2)))
    assert (elsewhere.primary, elsewhere.heads) == (Head(E, 1, 0), tuple(layer))


@given(selections, places)
def test_toggling_twice_changes_nothing_but_which_is_current(selection, place) -> None:
    head = Head(E, *place)
    once = changed(selection, **toggled([head], selection))
    twice = changed(once, **toggled([head], once))
    assert set(twice.heads) == set(selection.heads)
    assert (head in once.heads) == (head not in selection.heads or len(selection.heads) == 1)
    assert once.primary in once.heads


def test_a_head_of_another_kind_starts_a_selection_of_its_own() -> None:
    selection = Selection(E, 0, 0, others=((0, 1),))
    assert changed(selection, **toggled([Head(C, 1, 1)], selection)).heads == (Head(C, 1, 1),)
    assert changed(selection, **extended(ORDER, Head(C, 1, 1), selection)).heads == (Head(C, 1, 1),)


def test_the_last_heads_stay() -> None:
    selection = Selection(E, 1, 0, others=((1, 1),))
    both = [Head(E, 1, 0), Head(E, 1, 1)]
    assert changed(selection, **toggled(both, selection)).heads == tuple(both)


@given(places, places)
def test_a_range_reaches_from_the_current_head_to_the_end(start, end) -> None:
    selection = Selection(E, *start)
    result = changed(selection, **extended(ORDER, Head(E, *end), selection))
    low, high = sorted((start, end))
    assert result.heads == tuple(h for h in ORDER if h.kind is E and low <= h[1:] <= high)
    assert result.primary == Head(E, *start)


def test_a_range_follows_the_order_displayed() -> None:
    shown = [Head(E, 2, 0), Head(E, 0, 3), Head(E, 1, 1), Head(E, 0, 0)]
    selection = Selection(E, 0, 3)
    result = changed(selection, **extended(shown, Head(E, 0, 0), selection))
    assert set(result.heads) == {Head(E, 0, 3), Head(E, 1, 1), Head(E, 0, 0)}
