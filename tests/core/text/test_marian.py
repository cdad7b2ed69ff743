from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import MarianTokenizer as MarianTokenizerOfTransformers

from core.errors import UserError
from core.text.marian import MarianTokenizer, marian_tokenizer
from core.text.stored import from_tensors
from core.text.tokens import TokenKind
from tests.core.checkpoints.marian_folders import (
    ENGLISH,
    GERMAN,
    pieces,
    save_tokenizer,
    sentencepiece_model,
    vocabulary,
)

LANGUAGES = (">>deu<<", ">>nds<<")
SOURCE, TARGET = sentencepiece_model(ENGLISH, 120), sentencepiece_model(GERMAN, 110)
SHARED = vocabulary((*LANGUAGES, *pieces(ENGLISH, 120), *pieces(GERMAN, 110)))
PAD = SHARED["<pad>"]
TOKENIZER = marian_tokenizer(SOURCE, TARGET, SHARED, None, PAD)
# A vocabulary that lacks pieces which SentencePiece makes.
POOR = marian_tokenizer(SOURCE, TARGET, vocabulary(pieces(ENGLISH, 120)[:20]), None, 21 + 1)
ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("\0\ud800\u200b▁ \t\n😀אב駅ﬁ½Straße<>/s>>deu<<Tier animal"),
    )
)


def test_ids_are_those_of_the_vocabulary() -> None:
    assert (TOKENIZER.eos_id, TOKENIZER.unk_id, TOKENIZER.pad_id) == (0, 1, PAD)
    assert (TOKENIZER.bos_id, TOKENIZER.vocab_size) == (PAD, PAD + 1)
    kinds = [TOKENIZER.token(id).kind for id in (0, 1, PAD)]
    assert kinds == [TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.SPECIAL]
    for id, token in zip(TOKENIZER.encode(ENGLISH[0]), TOKENIZER.tokens(ENGLISH[0]), strict=True):
        assert SHARED[token.piece] == token.id == id


def test_each_side_is_cut_by_its_own_model() -> None:
    english = TOKENIZER.target.tokens(ENGLISH[0])
    assert [one.piece for one in english] != [one.piece for one in TOKENIZER.tokens(ENGLISH[0])]
    assert TOKENIZER.target.target is TOKENIZER.target
    assert TOKENIZER.target.decode(TOKENIZER.target.encode(GERMAN[0])) == GERMAN[0]


@settings(deadline=None, max_examples=200)
@given(ANY_TEXT)
def test_tokens_are_the_ids_with_adjoining_spans(text: str) -> None:
    for tokenizer in (TOKENIZER, TOKENIZER.target, POOR):
        ids, tokens = tokenizer.encode(text), tokenizer.tokens(text)
        assert [token.id for token in tokens] == ids
        assert tokenizer.encode_all([text, ""]) == [ids, []]
        assert all(before.end == after.start for before, after in pairwise(tokens))
        assert all(0 <= token.start <= token.end <= len(text) for token in tokens)
        specials = {tokenizer.pad_id, tokenizer.eos_id}
        assert not specials & set(ids)
        tokenizer.decode(ids).encode("utf-8")


def test_a_piece_that_the_vocabulary_lacks_keeps_its_surface_and_its_word_mark() -> None:
    tokens = POOR.tokens("The animal crossed.")
    unknown = [token for token in tokens if token.kind is TokenKind.UNKNOWN]
    assert unknown
    assert all(token.piece == "<unk>" and token.id == POOR.unk_id for token in unknown)
    assert "".join(token.label for token in tokens if token.label != "▁") == "Theanimalcrossed."
    starts = [token.start for token in tokens if token.starts_word]
    assert starts == [0, 3, 10]


def test_an_unknown_piece_is_shown_in_the_text() -> None:
    assert TOKENIZER.decode(TOKENIZER.encode("She 駅 was")) == "She ⁇ was"


def test_a_language_token_comes_first_and_covers_what_was_typed() -> None:
    assert TOKENIZER.languages == LANGUAGES
    assert TOKENIZER.target.languages == ()
    tokens = TOKENIZER.tokens(">>nds<< She was tired.")
    assert (tokens[0].piece, tokens[0].kind) == (">>nds<<", TokenKind.SPECIAL)
    assert (tokens[0].start, tokens[0].end) == (0, 7)
    rest = TOKENIZER.tokens(" She was tired.")
    assert [(one.id, one.start - 7) for one in tokens[1:]] == [(one.id, one.start) for one in rest]
    assert TOKENIZER.decode([one.id for one in tokens]) == "She was tired."


def test_a_language_that_the_model_does_not_know_is_unknown() -> None:
    first = TOKENIZER.tokens(">>zzz<< She was tired.")[0]
    assert (first.kind, first.label) == (TokenKind.UNKNOWN, ">>zzz<<")


@pytest.mark.parametrize("text", ["", " ", "\n\t", ">>deu<<", ">>deu<<  "])
def test_text_without_a_visible_character_gives_nothing(text: str) -> None:
    assert TOKENIZER.encode(text) == TOKENIZER.tokens(text) == []


def test_where_there_are_no_languages_the_marks_are_text() -> None:
    assert POOR.languages == ()
    assert all(token.kind is not TokenKind.SPECIAL for token in POOR.tokens(">>deu<< a"))


def test_a_continuation_starts_a_word_only_after_a_space() -> None:
    target = TOKENIZER.target
    inside, after = target.continuation("Tier"), target.continuation(" Tier")
    assert not inside[0].starts_word
    assert after[0].starts_word
    assert "".join(token.label for token in inside) == "Tier"
    assert [inside[0].start, inside[-1].end] == [0, 4]


@pytest.mark.parametrize("separate", [False, True])
def test_a_model_file_holds_all_of_it(separate: bool) -> None:
    german = vocabulary(pieces(GERMAN, 110)) if separate else None
    tokenizer = marian_tokenizer(SOURCE, TARGET, SHARED, german, PAD)
    again = from_tensors(tokenizer.to_tensors())
    assert isinstance(again, MarianTokenizer)
    assert again.identity == tokenizer.identity
    assert (again.pieces, again.target.pieces) == (tokenizer.pieces, tokenizer.target.pieces)
    assert again.bos_id == again.target.bos_id == PAD
    assert again.tokens(ENGLISH[0]) == tokenizer.tokens(ENGLISH[0])
    assert again.target.tokens(GERMAN[0]) == tokenizer.target.tokens(GERMAN[0])
    assert (again.identity == TOKENIZER.identity) == (not separate)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"<unk>": None}, "The vocabulary has no <unk>"),
        ({"<pad>": None}, "The vocabulary has no <pad>"),
        ({"</s>": None}, "The vocabulary has no </s>"),
        ({"▁": 1}, "gives '<unk>' and '▁' the same id, 1"),
        ({"<pad>": 9999}, rf"no piece for the id {PAD}"),
    ],
    ids=str,
)
def test_a_vocabulary_that_is_none_is_refused(changes: dict[str, int | None], message: str) -> None:
    damaged = {piece: id for piece, id in (SHARED | changes).items() if id is not None}
    with pytest.raises(UserError, match=message):
        marian_tokenizer(SOURCE, TARGET, damaged, None, PAD)


def test_bytes_that_are_no_model_are_refused() -> None:
    with pytest.raises(UserError, match="not a readable SentencePiece model"):
        marian_tokenizer(SOURCE, b"no model", SHARED, None, PAD)


def test_a_file_without_a_tokenizer_is_refused() -> None:
    with pytest.raises(UserError, match="contains no tokenizer"):
        from_tensors({})
    tensors = TOKENIZER.to_tensors()
    del tensors["tokenizer.vocabulary"]
    with pytest.raises(UserError, match="not belong to a Marian model"):
        from_tensors(tensors)


def test_pieces_that_only_the_source_side_knows_are_spelled_like_any_other(
    tmp_path: Path,
) -> None:
    """A shared vocabulary has pieces that the target's SentencePiece model does not know."""
    known = set(pieces(GERMAN, 110))
    foreign = [id for piece, id in SHARED.items() if piece not in known and piece.startswith("▁")]
    assert foreign
    save_tokenizer(tmp_path, SHARED, None)
    theirs = MarianTokenizerOfTransformers.from_pretrained(tmp_path)
    german = TOKENIZER.target.encode(GERMAN[0])
    for mixed in ([*german[:4], *foreign[:3], *german[4:]], foreign, [*foreign, *german]):
        text = TOKENIZER.target.decode(mixed)
        assert "▁" not in text
        assert text == theirs.decode(mixed, clean_up_tokenization_spaces=False)


def test_bytes_are_joined_whichever_side_knows_them() -> None:
    """`transformers` leaves <0x42> in the text where the target's model has no bytes."""
    bytes_ = [f"<0x{byte:02X}>" for byte in "€B".encode()]
    shared = vocabulary((*pieces(ENGLISH, 120), *pieces(GERMAN, 110), *bytes_))
    target = marian_tokenizer(SOURCE, TARGET, shared, None, shared["<pad>"]).target
    das = target.encode("Das")
    ids = [*das, *(shared[piece] for piece in bytes_), *das]
    assert target.decode(ids) == "Das€B Das"
    assert target.decode([*das, shared["<0xE2>"], *das]) == "Das\ufffd Das"
