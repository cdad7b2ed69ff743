from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace.alignment import GAP, Alignment, align

letters = st.text(alphabet="abc", max_size=9)


def columns(alignment: Alignment, first: str, second: str) -> tuple[str, str]:
    """Both sequences written on the common axis, gaps as dots."""

    def line(indices: np.ndarray, side: str) -> str:
        return "".join("." if index == GAP else side[index] for index in indices)

    return line(alignment.first, first), line(alignment.second, second)


@pytest.mark.parametrize(
    ("first", "second", "above", "below"),
    [
        ("abc", "abc", "abc", "abc"),
        ("abxc", "abyc", "abxc", "abyc"),  # a replacement stands opposite
        ("abc", "abxc", "ab.c", "abxc"),
        ("axyc", "azc", "axy.c", "a..zc"),  # two for one: nothing says which is which
        ("", "ab", "..", "ab"),
        ("xy", "zw", "xy", "zw"),
        ("", "", "", ""),
        ("abcab", "cab", "abcab", "..cab"),
    ],
)
def test_closed_cases(first: str, second: str, above: str, below: str) -> None:
    assert columns(align(first, second), first, second) == (above, below)


@given(letters, letters)
def test_the_axis_holds_both_sequences_in_order_and_no_empty_place(first: str, second: str) -> None:
    alignment = align(first, second)
    for indices, side in ((alignment.first, first), (alignment.second, second)):
        assert indices[indices != GAP].tolist() == list(range(len(side)))
    assert not ((alignment.first == GAP) & (alignment.second == GAP)).any()


@given(letters, letters)
def test_it_keeps_a_longest_common_subsequence(first: str, second: str) -> None:
    above, below = columns(align(first, second), first, second)
    kept = sum(a == b for a, b in zip(above, below, strict=True))
    subsequences = {
        "".join(chosen) for size in range(len(first) + 1) for chosen in combinations(first, size)
    }
    longest = max(
        size
        for size in range(len(second) + 1)
        for chosen in combinations(second, size)
        if "".join(chosen) in subsequences
    )
    assert kept == longest


@given(letters)
def test_equal_sequences_have_no_gap(text: str) -> None:
    alignment = align(text, text)
    assert alignment.shared.all()
    assert len(alignment) == len(text)


def test_long_texts_align() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 50, 1500).tolist()
    second = [one for one in first if one != 7]
    alignment = align(first, second)
    assert (alignment.second == GAP).sum() == first.count(7)
    assert (alignment.first != GAP).all()
