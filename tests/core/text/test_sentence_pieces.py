from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UserError
from core.text.sentence_pieces import SentencePieceTokenizer, train_tokenizer
from core.text.tokens import TokenKind

CORPUS = [
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "The animal didn't cross the street because it was too wide.",
    "Das Tier überquerte die Straße nicht, weil sie zu breit war.",
] * 3
TOKENIZER = train_tokenizer(CORPUS, 120)
SPECIALS = {TOKENIZER.pad_id, TOKENIZER.bos_id, TOKENIZER.eos_id}
# Text of any kind: surrogates alone, NUL and other controls, combining and right-to-left
# characters, emoji; and of what the vocabulary knows.
ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("\0\ud800\udfff\u200b\u202e\u0301\ufffd▁⁇ \t\n\r😀👩‍🚀אب駅ﬁ½Straße<>/s"),
    )
)
ALPHABET = "".join(sorted(set("".join(CORPUS)) - {" "}))
KNOWN_TEXT = st.lists(st.text(st.sampled_from(ALPHABET), min_size=1)).map(" ".join)
lenient = settings(deadline=None, max_examples=300)


def test_ids_of_the_specials() -> None:
    ids = (TOKENIZER.pad_id, TOKENIZER.unk_id, TOKENIZER.bos_id, TOKENIZER.eos_id)
    assert ids == (0, 1, 2, 3)
    assert [TOKENIZER.token(i).piece for i in ids] == ["<pad>", "<unk>", "<s>", "</s>"]
    kinds = [TOKENIZER.token(i).kind for i in ids]
    assert kinds == [TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.SPECIAL, TokenKind.SPECIAL]


@lenient
@given(ANY_TEXT)
def test_no_text_crashes_and_none_gives_a_special(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert not SPECIALS & set(ids)
    assert all(0 <= id < TOKENIZER.vocab_size for id in ids)
    TOKENIZER.decode(ids).encode("utf-8")


@pytest.mark.parametrize("text", ["<s>", "</s>", "<pad>", "<unk>", "a </s> b", "</s></s>", "<b>"])
def test_a_special_that_is_typed_is_only_characters(text: str) -> None:
    tokens = TOKENIZER.tokens(text)
    assert not SPECIALS & {token.id for token in tokens}
    assert all(token.kind is not TokenKind.SPECIAL for token in tokens)
    assert "".join(text[token.start : token.end] for token in tokens) == text


@lenient
@given(ANY_TEXT)
def test_tokens_are_the_ids_with_adjoining_spans(text: str) -> None:
    tokens = TOKENIZER.tokens(text)
    assert [token.id for token in tokens] == TOKENIZER.encode(text)
    for before, after in pairwise(tokens):
        assert before.end == after.start
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)


@lenient
@given(KNOWN_TEXT)
def test_spans_slice_the_text_into_its_pieces(text: str) -> None:
    tokens = TOKENIZER.tokens(text)
    assert "".join(text[token.start : token.end] for token in tokens) == text
    for token in tokens:
        assert text[token.start : token.end].strip(" ") == token.piece.replace("▁", " ").strip(" ")


@lenient
@given(KNOWN_TEXT)
def test_known_text_survives_the_round_trip(text: str) -> None:
    assert TOKENIZER.unk_id not in TOKENIZER.encode(text)
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.parametrize("text", ["", " ", "\n\t \r", "\u2028", "\x01"])
def test_text_without_a_visible_character_gives_nothing(text: str) -> None:
    assert TOKENIZER.encode(text) == []
    assert TOKENIZER.tokens(text) == []


def test_unknown_characters_stay_visible() -> None:
    text = "Das Tier 駅 war."
    (unknown,) = [t for t in TOKENIZER.tokens(text) if t.kind is TokenKind.UNKNOWN]
    assert unknown.id == TOKENIZER.unk_id
    assert unknown.label == unknown.surface == "駅"
    assert text[unknown.start : unknown.end] == "駅"
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == "Das Tier ⁇ war."


def test_decoding_skips_specials() -> None:
    ids = [TOKENIZER.bos_id, *TOKENIZER.encode("Das Tier"), TOKENIZER.eos_id, TOKENIZER.pad_id]
    assert TOKENIZER.decode(ids) == "Das Tier"
    assert TOKENIZER.decode([]) == ""


def test_a_model_is_its_bytes() -> None:
    again = SentencePieceTokenizer(TOKENIZER.model_bytes)
    assert again.vocab_size == TOKENIZER.vocab_size
    assert again.encode(CORPUS[0]) == TOKENIZER.encode(CORPUS[0])


@pytest.mark.parametrize(
    "model_bytes", [b"", b"no model", bytes(100), TOKENIZER.model_bytes[:500]], ids=len
)
def test_bytes_that_are_no_model_are_the_users_error(model_bytes: bytes) -> None:
    with pytest.raises(UserError, match="not a readable SentencePiece model"):
        SentencePieceTokenizer(model_bytes)


def test_learning_gives_the_vocabulary_asked_for() -> None:
    assert TOKENIZER.vocab_size == 120
    assert train_tokenizer(CORPUS, 120).model_bytes == TOKENIZER.model_bytes


def test_a_tiny_text_gives_a_smaller_vocabulary() -> None:
    tokenizer = train_tokenizer(["ab abc"], 30_000)
    assert 4 < tokenizer.vocab_size < 20
    assert tokenizer.decode(tokenizer.encode("abc ab")) == "abc ab"


def test_every_character_is_learned_even_of_very_long_lines() -> None:
    tokenizer = train_tokenizer(["a b c", "x" * 10_000 + " ß"], 30)
    assert tokenizer.unk_id not in tokenizer.encode("xßabc")


@pytest.mark.parametrize("lines", [[], [""], ["  ", "\n"]])
def test_no_text_is_the_users_error(lines: list[str]) -> None:
    with pytest.raises(UserError, match="add more text"):
        train_tokenizer(lines, 100)


@pytest.mark.parametrize("vocab_size", [-1, 0, 3, 10])
def test_a_vocabulary_below_the_characters_is_the_users_error(vocab_size: int) -> None:
    with pytest.raises(UserError, match=f"No vocabulary of {vocab_size} pieces"):
        train_tokenizer(CORPUS, vocab_size)


def test_the_smallest_vocabulary_is_named_and_possible() -> None:
    with pytest.raises(UserError, match=r"its characters alone need \d+; choose that") as raised:
        train_tokenizer(CORPUS, 10)
    needed = int(str(raised.value).split("need ")[1].split(";")[0])
    assert train_tokenizer(CORPUS, needed).vocab_size == needed
    with pytest.raises(UserError, match=f"need {needed};"):
        train_tokenizer(CORPUS, needed - 1)


def test_an_error_of_the_lines_comes_through() -> None:
    def lines() -> Iterator[str]:
        yield "ab"
        raise UserError("line 2 is not UTF-8")

    with pytest.raises(UserError, match="line 2"):
        train_tokenizer(lines(), 100)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (" müde", ["▁müde"]),
        (",", [","]),
        (", weil", [",", "▁weil"]),
        ("", []),
        (" ", []),
        ("駅", ["<unk>"]),
    ],
)
def test_a_continuation_starts_a_word_only_after_a_space(text: str, pieces: list[str]) -> None:
    assert [token.piece for token in TOKENIZER.continuation(text)] == pieces


@lenient
@given(ANY_TEXT)
def test_a_continuation_knows_what_it_covers(text: str) -> None:
    tokens = TOKENIZER.continuation(text)
    assert all(0 <= token.start <= token.end <= len(text) for token in tokens)
    unknown = [token for token in tokens if token.kind is TokenKind.UNKNOWN]
    assert all("\ue000" not in token.surface for token in unknown if "\ue000" not in text)


@lenient
@given(KNOWN_TEXT, KNOWN_TEXT, st.sampled_from(["", " "]))
def test_a_continuation_goes_on_where_the_text_ends(first: str, second: str, gap: str) -> None:
    ids = [*TOKENIZER.encode(first), *(t.id for t in TOKENIZER.continuation(gap + second))]
    whole = first + gap + second if first and second else first + second
    assert TOKENIZER.decode(ids) == TOKENIZER.decode(TOKENIZER.encode(whole))
