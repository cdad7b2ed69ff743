from __future__ import annotations

from core.text.tokens import Token
from core.text.words import first_pieces, words_of_pieces

#            0123456789
TEXT_SPANS = [(0, 2), (3, 8), (8, 9)]  # "Ja überh."
TOKENS = [
    Token("▁Ja", 4, start=0, end=2),
    Token("▁", 5, start=2, end=3),
    Token("üb", 6, start=3, end=5),
    Token("erh", 7, start=5, end=8),
    Token(".", 8, start=8, end=9),
]


def test_a_word_begins_with_the_first_piece_after_the_word_before() -> None:
    assert first_pieces(TOKENS, TEXT_SPANS) == [0, 1, 4]


def test_a_piece_belongs_to_the_last_word_begun() -> None:
    assert words_of_pieces(TOKENS, TEXT_SPANS) == [0, 1, 1, 1, 2]


def test_a_piece_may_cover_the_space_before_its_word() -> None:
    tokens = [Token("▁Ja", 4, start=0, end=2), Token("▁über", 6, start=2, end=8)]
    assert first_pieces(tokens, [(0, 2), (3, 8)]) == [0, 1]


def test_a_lone_word_mark_at_the_start_begins_the_first_word() -> None:
    tokens = [Token("▁", 5, start=0, end=0), Token("Ja", 4, start=0, end=2)]
    assert first_pieces(tokens, [(0, 2)]) == [0]
    assert words_of_pieces(tokens, [(0, 2)]) == [0, 0]


def test_two_words_in_one_piece_begin_with_it() -> None:
    tokens = [Token("▁Ja", 4, start=0, end=2), Token("▁über.", 6, start=2, end=9)]
    assert first_pieces(tokens, TEXT_SPANS) == [0, 1, 1]
    assert words_of_pieces(tokens, TEXT_SPANS) == [0, 2]


def test_no_words_no_pieces() -> None:
    assert first_pieces([], []) == []
    assert words_of_pieces([], []) == []
