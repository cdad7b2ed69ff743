"""The words of the generated corpus, read once from the tables of this folder.

Every English word has one German translation, and no English form belongs to two entries.

Entries that are ``wide`` were added for models that translate ordinary text as well. The corpus has
them only where it is asked for with ``wide``, so that models trained on it before, and what was
measured on them, stay comparable.
"""

from core.corpus.grammar.lexicon.tables import (
    read_adjectives,
    read_adverbs,
    read_causatives,
    read_names,
    read_nouns,
    read_numerals,
    read_prepositions,
    read_verbs,
)

NOUNS = read_nouns()
NAMES = read_names()
VERBS = read_verbs()
CAUSATIVES = read_causatives()
ADJECTIVES = read_adjectives()
ADVERBS = read_adverbs()
PREPOSITIONS = read_prepositions()
NUMERALS = read_numerals()

__all__ = [
    "ADJECTIVES",
    "ADVERBS",
    "CAUSATIVES",
    "NAMES",
    "NOUNS",
    "NUMERALS",
    "PREPOSITIONS",
    "VERBS",
]
