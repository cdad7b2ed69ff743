import pytest

from transformer_viz.state.bundled import (
    FIRST_TEXT,
    MinimalPair,
    counterpart,
    minimal_pairs,
    samples,
)


def test_every_pair_is_among_the_sentences_and_named_by_what_differs() -> None:
    sentences = [sentence for group in samples() for sentence in group.sentences]
    assert len(set(sentences)) == len(sentences)
    for pair in minimal_pairs():
        assert set(pair) <= set(sentences)
        assert len(pair.first.split()) == len(pair.second.split())
    assert [pair.label for pair in minimal_pairs()] == [
        *("tired / wide", "tired / deep", "his / her"),
    ]


def test_the_first_text_belongs_to_the_first_pair() -> None:
    first = minimal_pairs()[0]
    assert first.first == FIRST_TEXT
    assert counterpart(first.first) == first.second
    assert counterpart(first.second) == first.first
    assert counterpart("Something else.") is None


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ("He saw it.", "She saw it.", "He / She"),
        ("A old dog ran.", "An old cat ran.", "A dog / An cat"),
    ],
)
def test_a_pair_is_labelled_by_its_differing_words(first: str, second: str, label: str) -> None:
    assert MinimalPair(first, second).label == label
