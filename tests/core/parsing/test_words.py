from __future__ import annotations

import pytest

from core.parsing.words import words_of


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("The animal didn't move.", "The|animal|didn't|move|."),
        ("“Yes,” she said (3.5 times) ...", "“|Yes|,|”|she|said|-LRB-|3.5|times|-RRB-|..."),
        ("  \t ", ""),
        ("What?! dogs' tails", "What|?|!|dogs|'|tails"),
    ],
)
def test_punctuation_is_separated(line: str, words: str) -> None:
    assert "|".join(words_of(line)) == words


def test_a_tokenized_line_is_left_as_it_is() -> None:
    assert words_of("U.S. stocks ( fell ) .", tokenized=True) == (
        *("U.S.", "stocks", "-LRB-", "fell", "-RRB-", "."),
    )
