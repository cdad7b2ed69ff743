from __future__ import annotations

import pytest

from core.corpus.grammar.sentence import Sentence, detokenise
from core.text.tokenizer import Tokenizer, train_tokenizer
from core.training.gloss import encode_with_glosses

SOURCE = ("The", "animal", "didn't", "cross", "it", ",", "it", "calls", ".")
TAGS = ("article", "noun", "verb", "verb", "pronoun", ",", "pronoun", "verb", ".")
TARGET = ("Das", "Tier", "überquerte", "sie", "nicht", ",", "es", "ruft", "an", ".")
ALIGNMENT = ((0, 0), (1, 1), (3, 2), (4, 3), (5, 5), (6, 6), (7, 7), (7, 8), (8, 9))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """So small a vocabulary that most words are several pieces."""
    return train_tokenizer([detokenise(SOURCE), detokenise(TARGET)] * 3, 60)


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
    pair = encode_with_glosses(sentence, tokenizer)
    assert pair.source == [*tokenizer.encode(sentence.source), tokenizer.eos_id]
    assert pair.target == [*tokenizer.encode(sentence.target), tokenizer.eos_id]


def test_aligned_articles_pronouns_and_verbs_point_at_their_first_german_word(
    sentence: Sentence, tokenizer: Tokenizer
) -> None:
    pair = encode_with_glosses(sentence, tokenizer)
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
