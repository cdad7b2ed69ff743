from __future__ import annotations

import pytest

from core.text.tokens import Token, TokenKind
from core.text.words import first_pieces, join_pieces, word_span, word_spans, words_of_pieces

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


def bytes_of(text: str) -> list[Token]:
    return [Token(f"<0x{byte:02X}>", kind=TokenKind.BYTE) for byte in text.encode()]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ("▁The ▁sch lief", ["▁The", "▁sch lief"]),
        ("▁tired .", ["▁tired", "."]),
        ("▁didn ' t .", ["▁didn ' t", "."]),
        ("▁( so ) !", ["▁(", "so", ")", "!"]),
        ("lief ▁▁ x", ["lief", "▁▁ x"]),
        ("<s> lief </s>", ["<s>", "lief", "</s>"]),
        ("▁ ?x y", ["▁ ?x y"]),
    ],
)
def test_pieces_belong_to_the_written_word(pieces: str, words: list[str]) -> None:
    tokens = []
    for piece in pieces.split():
        if piece in ("<s>", "</s>"):
            tokens.append(Token(piece, kind=TokenKind.SPECIAL))
        elif piece.startswith("?"):
            tokens.append(Token("<unk>", kind=TokenKind.UNKNOWN, surface=piece[1:]))
        else:
            tokens.append(Token(piece))
    spans = word_spans(tokens)
    assert [" ".join(pieces.split()[i] for i in span) for span in spans] == words
    assert [word_span(tokens, i) for i in range(len(tokens))] == [
        span for span in spans for _ in span
    ]


def test_no_tokens_are_no_words() -> None:
    assert word_spans([]) == []


def test_a_joined_word_has_the_text_of_its_pieces() -> None:
    word = join_pieces([Token("▁sch", 7, start=3, end=6), Token("lief", 8, start=6, end=10)])
    assert (word.label, word.starts_word, word.id) == ("schlief", True, -1)
    assert (word.start, word.end) == (3, 10)


def test_the_bytes_of_a_word_spell_its_characters() -> None:
    word = join_pieces([Token("▁5"), *bytes_of("€"), Token("!")])
    assert word.label == "5€!"
    assert join_pieces(bytes_of("€")[:2]).label == "\ufffd"
    assert join_pieces([Token("▁"), *bytes_of("😀")]).label == "😀"


def test_a_word_with_an_unknown_piece_is_unknown() -> None:
    pieces = [Token("▁"), Token("<unk>", kind=TokenKind.UNKNOWN, surface="ß"), Token("x")]
    word = join_pieces(pieces)
    assert (word.kind, word.label, word.starts_word) == (TokenKind.UNKNOWN, "ßx", True)


def test_a_single_piece_stays_itself() -> None:
    token = Token("</s>", 3, TokenKind.SPECIAL)
    assert join_pieces([token]) is token
