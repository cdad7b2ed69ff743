"""The lexicon as a word list: what a single word is in German."""

from __future__ import annotations

from collections.abc import Iterator

from core.corpus.grammar.entries import Case, Number
from core.corpus.grammar.lexicon import ADJECTIVES, ADVERBS, NOUNS, NUMERALS, VERBS
from core.corpus.grammar.morphology import DEFINITE_ARTICLE


def word_list() -> Iterator[tuple[str, str]]:
    """Each word with its German: nouns alone, with their article and in the plural; verbs as
    infinitives; adjectives, adverbs and numerals."""
    for noun in NOUNS:
        yield noun.english, noun.german
        yield (
            f"the {noun.english}",
            f"{DEFINITE_ARTICLE[Case.NOMINATIVE, noun.gender]} {noun.german}",
        )
        if noun.countable:
            yield noun.english_plural, noun.plural
            yield (
                f"the {noun.english_plural}",
                f"{DEFINITE_ARTICLE[Case.NOMINATIVE, Number.PLURAL]} {noun.plural}",
            )
    for verb in VERBS:
        english = " ".join(filter(None, (verb.english.base, verb.english.particle)))
        if not verb.english.preposition:
            yield f"to {english}", verb.german.infinitive
    for adjective in ADJECTIVES:
        yield adjective.english, adjective.german
    for adverb in ADVERBS:
        yield adverb.english, adverb.german
    for numeral in NUMERALS:
        yield numeral.english, numeral.german
