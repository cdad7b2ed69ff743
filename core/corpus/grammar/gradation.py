"""Which adjectives have degrees: "very", "older than", "the oldest"."""

from __future__ import annotations

from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Adjective, Adverb
from core.corpus.grammar.vocabulary import adverb

ABSOLUTE = frozenset(
    {
        *("abstract", "absurd", "brilliant", "confidential", "correct", "deadly", "deaf"),
        *("delicious", "empty", "genuine", "green", "independent", "magnificent", "necessary"),
        *("original", "rural", "worthless", "wrong"),
    }
)
"""Adjectives with a comparative that one hears rarely; the lexicon knows those without."""

COMPLETELY = frozenset(
    {
        *("absurd", "blind", "confidential", "correct", "deaf", "empty", "illegal"),
        *("independent", "unexpected", "worthless", "wrong"),
    }
)
DEGREES = tuple(
    adverb(english)
    for english in (
        *("very", "too", "so", "quite", "extremely", "really", "particularly", "unusually"),
    )
)
NEGATED_DEGREES = tuple(adverb(english) for english in ("very", "too", "so", "particularly"))


def gradable(adjective: Adjective) -> bool:
    return adjective.graded and adjective.english not in ABSOLUTE


def random_degree(draft: Draft, adjective: Adjective, *, negated: bool = False) -> Adverb | None:
    """Sometimes return an adverb of degree that suits ``adjective`` as predicate."""
    if not draft.chance(0.45):
        return None
    if gradable(adjective):
        return draft.pick(NEGATED_DEGREES if negated else DEGREES)
    return adverb("completely") if adjective.english in COMPLETELY else None
