"""Byte-level pieces of tokenizers that are trained here, and pieces that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from core.text.tokens import TokenKind
from core.text.words import written
from core.trace.pieces import located, read_tokens, word_mark

TEXTS = [
    "日本語の文章です。",
    "Café, naïve, Straße, übermüde.",
    "“Quotes” and ‘more’ — don’t…",
    "😀😃 emoji 👩‍👩‍👧 fin",
    "Здравствуй, мир",
    "def f(x):\n    return  x\t+ 1",
    "plain words only",
    "اَلْعَرَبِيَّةُ",
]


def byte_level(size: int) -> PreTrainedTokenizerFast:
    """Trained by `tokenizers` as GPT-2's was; the smaller, the more characters fall apart."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")


TOKENIZERS = [byte_level(size) for size in (257, 300, 400)]


def cut(tokenizer: PreTrainedTokenizerFast, text: str) -> list[str]:
    pieces: list[str] = tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
    return pieces


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=["bytes", "few merges", "many merges"])
def test_text_comes_out_as_it_went_in(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    tokens = read_tokens([*cut(tokenizer, text), "<|endoftext|>"], mark="Ġ")
    assert written(tokens) == text
    covered = {n for token in located(tokens, text) for n in range(token.start, token.end)}
    assert covered >= {n for n, letter in enumerate(text) if not letter.isspace()}


@settings(deadline=None)
@given(st.sampled_from(TOKENIZERS), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_does(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert written(read_tokens(cut(tokenizer, text), mark="Ġ")) == text.strip(" ")


@pytest.mark.parametrize("text", [text for text in TEXTS if not text.isascii()])
@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=["bytes", "few merges", "many merges"])
def test_pieces_alone_tell_that_they_are_bytes(
    tokenizer: PreTrainedTokenizerFast, text: str
) -> None:
    for given_text in (text, text.replace(" ", "")):
        pieces = cut(tokenizer, given_text)
        assert word_mark(pieces) == "Ġ"
        assert written(read_tokens(pieces)) == given_text


@pytest.mark.parametrize(
    ("pieces", "labels"),
    [
        (["æĹ¥æľ¬", "èªŀ"], ["日本", "語"]),
        (["caf", "Ã©"], ["caf", "é"]),
        (["ĠâĢ", "ľ", "Hi"], ["<0xE2><0x80>", "<0x9C>", "Hi"]),
        (["ðŁ", "ĺ", "Ģ"], ["<0xF0><0x9F>", "<0x98>", "<0x80>"]),
        (["æĹ¥", "æľ"], ["日", "<0xE6><0x9C>"]),  # a text that was cut off
        (["Ġnaïve", "Ġa"], ["na<0xEF>ve", "a"]),  # ï as a byte of its own, among clear signs
    ],
)
def test_half_a_character_looks_like_one(pieces: list[str], labels: list[str]) -> None:
    tokens = read_tokens(pieces)
    assert [token.label for token in tokens] == labels
    for token in tokens:
        assert (token.kind is TokenKind.BYTE) == ("<0x" in token.label)


@pytest.mark.parametrize(
    "pieces",
    [
        ["é"],
        ["caf", "é", "à", "Noël"],
        ["„", "Spaß", "«"],
        ["Łódź", "mał", "ą"],
        ["Příliš", "žluťoučký", "kůň", "oči"],
        ["Ā", "ē", "ģ", "Ķ", "ķ"],
        ["日本", "語"],
        ["il", "-", "Ġ", "##unju"],
        ["▁Ã", "©"],
        ["plain", "words"],
        ["Ã", "©", "<0x42>"],
    ],
)
def test_letters_of_other_tokenizers_stay_letters(pieces: list[str]) -> None:
    assert word_mark(pieces) != "Ġ"
    labels = [token.label for token in read_tokens(pieces)]
    assert labels == [piece.removeprefix("##").removeprefix("▁") for piece in pieces]


def test_pieces_that_were_added_as_text_stay_as_they_are() -> None:
    tokenizer = byte_level(300)
    tokenizer.add_tokens([AddedToken("東京"), AddedToken("<think>")])
    text = "in 東京 <think> café"
    tokens = read_tokens(cut(tokenizer, text))
    assert "東京" in {token.label for token in tokens}
    assert written(tokens) == text


def test_bytes_whose_words_end_are_those_of_clip() -> None:
    tokens = read_tokens(["caf", "Ã©</w>", "fin</w>"])
    assert [token.piece for token in tokens] == ["▁caf", "é", "▁fin"]


def test_byte_pieces_of_sentencepiece_are_halves_of_characters() -> None:
    """As Llama 2 and Gemma cut what they have no piece for."""
    pieces = ["▁Hi", *(f"<0x{byte:02X}>" for byte in "語😀".encode()), "▁a"]
    tokens = read_tokens(pieces)
    assert written(tokens) == "Hi語😀 a"
    places = [(token.start, token.end) for token in located(tokens, "Hi語😀 a")]
    assert places == [(0, 2), *[(2, 3)] * 3, *[(3, 4)] * 4, (5, 6)]
    alone = read_tokens(pieces[1:4])
    assert {token.kind for token in alone} == {TokenKind.BYTE}
    assert written(alone) == "語"


def test_ascii_alone_does_not_tell() -> None:
    assert word_mark(list("Don't#@!")) == ""
