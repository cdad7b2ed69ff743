from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.convert_slow_tokenizer import bytes_to_unicode

from core.text.tokens import Token, TokenKind
from core.text.words import written
from core.trace.pieces import located, read_tokens

WAYS = {
    "SentencePiece": ["▁play", "ing", "▁it", "</s>"],
    "byte-level BPE": ["play", "ing", "Ġit", "<|endoftext|>"],
    "WordPiece": ["[CLS]", "play", "##ing", "it"],
    "end of word": ["play", "ing</w>", "it</w>"],
    "joined": ["play@@", "ing", "it"],
}


@pytest.mark.parametrize("pieces", WAYS.values(), ids=WAYS)
def test_words_are_found_in_the_pieces_of_any_tokenizer(pieces: list[str]) -> None:
    tokens = read_tokens(pieces)
    words = [token for token in tokens if token.kind is TokenKind.PIECE]
    assert [token.label for token in words] == ["play", "ing", "it"]
    assert not words[1].starts_word
    assert words[2].starts_word
    assert written(tokens) == "playing it"


def test_pieces_without_any_mark_are_words() -> None:
    assert all(token.starts_word for token in read_tokens(["playing", "it", "was", "#", "fun"]))


@pytest.mark.parametrize(
    "special",
    ["<s>", "</s>", "<pad>", "[SEP]", "<|endoftext|>", "<｜end▁of▁sentence｜>", ">>fra<<"],
)
@pytest.mark.parametrize("before", ["▁play", "play", "Ġplay"])
def test_specials_of_common_models_are_known(special: str, before: str) -> None:
    word, token = read_tokens([before, special])
    assert token == Token(special, kind=TokenKind.SPECIAL)
    assert word.kind is TokenKind.PIECE


def test_unknown_pieces_and_bytes_are_known() -> None:
    kinds = [token.kind for token in read_tokens(["▁a", "<unk>", "[UNK]", "<0xE9>", "<b>"])]
    unknown, piece = TokenKind.UNKNOWN, TokenKind.PIECE
    assert kinds == [piece, unknown, unknown, TokenKind.BYTE, piece]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_the_letters_of_byte_level_pieces_are_undone(words: list[str]) -> None:
    """Against the alphabet of `transformers`."""
    alphabet = bytes_to_unicode()
    pieces = ["".join(alphabet[byte] for byte in f" {word}".encode()) for word in words]
    tokens = read_tokens(pieces)
    assert [token.piece for token in tokens] == [f"▁{word.replace(' ', '▁')}" for word in words]


def test_a_byte_of_a_character_stays_a_byte() -> None:
    pieces = ["Ġa", "Ã", "¼", "Ġæĸ"]
    first, second, third, fourth = read_tokens(pieces)
    assert (second.data, third.data) == (b"\xc3", b"\xbc")
    assert written((first, second, third)) == "aü"
    assert (fourth.kind, fourth.label) == (TokenKind.BYTE, "<0xE6><0x96>")
    assert fourth.starts_word


def test_tokens_are_found_in_the_text_they_are_from() -> None:
    text = "Das Tier, müde."
    tokens = read_tokens(["[CLS]", "das", "tier", ",", "mud", "##e", ".", "[SEP]"])
    found = [text[token.start : token.end] for token in located(tokens, text)]
    assert found == ["", "Das", "Tier", ",", "", "e", ".", ""], "accents were stripped"


@given(st.lists(st.sampled_from(["▁a", "▁ab", "b", "▁", ".", "▁É", "<unk>", "</s>"])))
def test_places_are_those_of_the_pieces_and_never_overlap(pieces: list[str]) -> None:
    tokens = read_tokens(pieces)
    text = written(tokens)
    end = 0
    for token in located(tokens, text):
        if token.end:
            assert token.start >= end
            assert text[token.start : token.end] == token.label
            end = token.end
    if "<unk>" not in pieces:
        words = [one for one in tokens if one.kind is TokenKind.PIECE and one.piece != "▁"]
        assert sum(one.end > 0 for one in located(tokens, text)) == len(words)
