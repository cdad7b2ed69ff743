"""The wide lexicon: there where it is asked for, and nowhere else."""

from zlib import crc32

import pytest

from core.corpus.grammar.generate import FAMILIES, Sentence, generate
from core.corpus.grammar.lexicon import ADJECTIVES, NOUNS, VERBS
from core.corpus.grammar.word_list import word_list
from core.presets import preset
from core.training.preparation import unwatched
from core.training.survey import fingerprint
from core.training.texts import grammar_sample, grammar_validation

WIDE_NOUNS = {
    form for noun in NOUNS if noun.wide for form in (noun.english, noun.english_plural) if form
}
WIDE_PASTS = {verb.english.past for verb in VERBS if verb.wide}
WIDE_ADJECTIVES = {adjective.english for adjective in ADJECTIVES if adjective.wide}
# "carried out" and "asked for" have words of their own that look like wide ones
WIDE = (WIDE_NOUNS | WIDE_PASTS | WIDE_ADJECTIVES) - {"carried"}


def text_of(sentences: list[Sentence]) -> str:
    return "".join(f"{one.source}\t{one.target}\n" for one in sentences)


def wide_words(sentences: list[Sentence]) -> set[str]:
    return WIDE & {word for one in sentences for word in one.source_words}


def test_the_corpus_that_models_were_trained_on_stays_what_it_was() -> None:
    """Checksums of the corpus as it was before there were wide entries."""
    made = [list(generate(2_000, seed=3, split=split)) for split in ("train", "test")]
    assert [crc32(text_of(one).encode()) for one in made] == [812994971, 1915474055]


def test_wide_entries_come_only_where_they_are_asked_for() -> None:
    assert wide_words(list(generate(3_000, seed=1))) == set()
    assert len(wide_words(list(generate(3_000, seed=1, wide=True)))) > 0.8 * len(WIDE)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("split", ["train", "test"])
def test_every_family_has_them(family: str, split: str) -> None:
    made = list(generate(150, seed=2, split=split, families=[family], wide=True))
    assert [one.family for one in made] == [family] * 150
    assert wide_words(made)


@pytest.mark.parametrize(
    "word", ["majority", "spirit", "voting", "attention", "trophy", "just", "American", "flooded"]
)
def test_the_words_of_the_papers_sentences_and_of_the_classroom(word: str) -> None:
    assert word in WIDE


def test_a_run_asks_for_them() -> None:
    plain = preset("tiny").with_settings({"grammar_pairs": 1_500, "validation_pairs": 300})
    wide = plain.with_settings({"grammar_wide": True})
    assert wide_words(list(grammar_sample(plain.training))) == set()
    assert wide_words(list(grammar_sample(wide.training)))
    held_out = [list(grammar_validation(one.training, unwatched)) for one in (plain, wide)]
    assert held_out[0] != held_out[1]
    assert fingerprint(wide.training, unwatched) != fingerprint(plain.training, unwatched)


def test_single_words() -> None:
    rows = dict(word_list())
    assert rows["trophy"] == "Pokal"
    assert rows["the street"] == "die Straße"
    assert rows["the animals"] == "die Tiere"
    assert rows["tired"] == "müde"
    assert rows["yesterday"] == "gestern"
    assert rows["seven"] == "sieben"
    assert "to wait" not in rows  # German needs the preposition
    assert all(english and german for english, german in rows.items())
