from __future__ import annotations

import pytest

from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence, detokenise, word_spans
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from core.text.words import words_of_pieces
from core.training.gloss import GLOSSED_TAGS, GlossEncoder

SOURCE = ("The", "animal", "didn't", "cross", "it", ",", "it", "calls", ".")
TAGS = ("article", "noun", "verb", "verb", "pronoun", ",", "pronoun", "verb", ".")
TARGET = ("Das", "Tier", "überquerte", "sie", "nicht", ",", "es", "ruft", "an", ".")
ALIGNMENT = ((0, 0), (1, 1), (3, 2), (4, 3), (5, 5), (6, 6), (7, 7), (7, 8), (8, 9))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """So small a vocabulary that most words are several pieces."""
    return train_tokenizer([detokenise(SOURCE), detokenise(TARGET)] * 3, 75)


@pytest.fixture
def sentence() -> Sentence:
    return Sentence(
        source=detokenise(SOURCE),
        target=detokenise(TARGET),
        family="test",
        split="train",
        source_words=SOURCE,
        target_words=TARGET,
        source_tags=TAGS,
        alignment=ALIGNMENT,
        dependencies=(),
        tree="",
    )


def test_ids_are_those_of_plain_encoding(sentence: Sentence, tokenizer: Tokenizer) -> None:
    pair = GlossEncoder(tokenizer).encode(sentence)
    assert pair.source == [*tokenizer.encode(sentence.source), tokenizer.eos_id]
    assert pair.target == [*tokenizer.encode(sentence.target), tokenizer.eos_id]


def test_aligned_articles_pronouns_and_verbs_point_at_their_first_german_word(
    sentence: Sentence, tokenizer: Tokenizer
) -> None:
    pair = GlossEncoder(tokenizer).encode(sentence)
    assert len(tokenizer.encode(sentence.source)) > len(SOURCE)
    found = []
    for position, piece in pair.glosses:
        before = tokenizer.decode(pair.source[:position])
        rest = tokenizer.decode(pair.source[position:-1])
        found.append((rest.split()[0].rstrip(",."), tokenizer.decode([piece])))
        assert f"{before} {rest}".split() == sentence.source.split()  # a word begins here
    # "didn't" has no German word of its own; "calls" is "ruft … an", glossed by "ruft".
    assert [word for word, _ in found] == ["The", "cross", "it", "it", "calls"]
    for (_, beginning), german in zip(
        found, ("Das", "überquerte", "sie", "es", "ruft"), strict=True
    ):
        assert beginning
        assert german.startswith(beginning)


def test_every_generated_sentence_can_be_glossed() -> None:
    sentences = list(generate(200, seed=4))
    lines = [text for each in sentences for text in (each.source, each.target)]
    tokenizer = train_tokenizer(lines, 300)
    encoder = GlossEncoder(tokenizer)
    for sentence in sentences:
        pair = encoder.encode(sentence)
        pieces = words_of_pieces(
            tokenizer.tokens(sentence.source), word_spans(sentence.source_words)
        )
        for position, _ in pair.glosses:
            assert sentence.source_tags[pieces[position]] in GLOSSED_TAGS
            assert position == 0 or pieces[position - 1] != pieces[position]
        assert pair.glosses
