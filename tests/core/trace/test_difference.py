import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import Token, TokenKind
from core.trace.alignment import GAP, Alignment, align
from core.trace.difference import align_entries, difference, on_axes
from core.trace.head_map import Entries, HeadMap, entries


def head_map(weights: list[list[float]], hidden: list[float] | None = None) -> HeadMap:
    array = np.array(weights, np.float32)
    return HeadMap(
        weights=array,
        allowed=np.ones(array.shape, np.bool_),
        hidden=np.zeros(len(array), np.float32) if hidden is None else np.float32(hidden),
    )


def same(length: int) -> Alignment:
    return align(range(length), range(length))


def words(text: str) -> Entries:
    return entries([Token(f"▁{word}", index) for index, word in enumerate(text.split())])


def test_without_gaps_it_is_cell_by_cell() -> None:
    a = head_map([[0.75, 0.25], [0.5, 0.5]])
    b = head_map([[0.25, 0.75], [0.5, 0.5]])
    found = difference(a, b, same(2), same(2))
    assert found.values.tolist() == [[0.5, -0.5], [0, 0]]
    assert found.compared.all()
    assert found.row_distances.tolist() == [0.5, 0]
    assert found.mean_distance == 0.25


def test_what_one_side_lacks_is_no_difference_but_counts_in_the_distance() -> None:
    """A: it → {it, tired}; B: it → {it, very, tired}, where all the weight is on "very"."""
    rows = same(1)
    columns = align("it", "ivt")
    found = difference(head_map([[0.5, 0.5]]), head_map([[0, 1, 0]]), rows, columns)
    assert columns.first.tolist() == [0, GAP, 1]
    assert found.compared.tolist() == [[True, False, True]]
    assert found.values.tolist() == [[0.5, 0, 0.5]]
    assert found.row_distances.tolist() == [1]


def test_a_row_on_one_side_only_has_no_distance() -> None:
    found = difference(head_map([[1.0], [1.0]]), head_map([[1.0]]), align("ab", "b"), same(1))
    assert np.isnan(found.row_distances).tolist() == [True, False]
    assert not found.compared[0].any()
    assert found.mean_distance == 0
    nothing = difference(head_map([[1.0], [1.0]]), head_map([[1.0]]), align("ab", "c"), same(1))
    assert np.isnan(nothing.mean_distance)


def test_hidden_weight_is_one_more_entry() -> None:
    a, b = head_map([[0.5]], hidden=[0.5]), head_map([[1.0]], hidden=[0.0])
    assert difference(a, b, same(1), same(1)).row_distances.tolist() == [0.5]


def test_masked_cells_are_not_compared() -> None:
    causal = HeadMap(
        weights=np.array([[1, 0], [0.5, 0.5]], np.float32),
        allowed=np.tril(np.ones((2, 2), np.bool_)),
        hidden=np.zeros(2, np.float32),
    )
    found = difference(causal, causal, same(2), same(2))
    assert found.compared.tolist() == [[True, False], [True, True]]


@st.composite
def distributions(draw: st.DrawFn) -> tuple[HeadMap, str]:
    text = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=5, unique=True))
    raw = draw(st.lists(st.floats(0.01, 1), min_size=len(text), max_size=len(text)))
    return head_map([[value / sum(raw) for value in raw]]), "".join(text)


@given(distributions(), distributions())
def test_the_distance_is_that_of_two_distributions(
    first: tuple[HeadMap, str], second: tuple[HeadMap, str]
) -> None:
    """The largest difference in the probability of any set of entries."""
    (a, above), (b, below) = first, second
    columns = align(above, below)
    forth = difference(a, b, same(1), columns)
    left = on_axes(a.weights, same(1).first, columns.first, 0.0)
    right = on_axes(b.weights, same(1).first, columns.second, 0.0)
    assert forth.row_distances[0] == pytest.approx(np.maximum(left - right, 0).sum(), abs=1e-5)
    assert -1e-6 <= forth.row_distances[0] <= 1 + 1e-6


def test_entries_align_by_their_text_whatever_their_ids() -> None:
    alignment = align_entries(words("it was too tired"), words("it was wide"))
    assert alignment.first.tolist() == [0, 1, 2, 3, GAP]
    assert alignment.second.tolist() == [0, 1, GAP, GAP, 2]


def test_words_of_different_vocabularies_align() -> None:
    cut = [Token("▁stre"), Token("et"), Token("</s>", kind=TokenKind.SPECIAL)]
    whole = [Token("▁street"), Token("</s>", kind=TokenKind.SPECIAL)]
    alignment = align_entries(entries(cut, merge_words=True), entries(whole, merge_words=True))
    assert alignment.shared.tolist() == [True, True]


def test_the_special_is_no_word_that_is_spelled_like_it() -> None:
    special = entries([Token("</s>", kind=TokenKind.SPECIAL), Token("x")])
    typed = entries([Token("x"), Token("</s>")])
    assert align_entries(special, typed).shared.sum() == 1
