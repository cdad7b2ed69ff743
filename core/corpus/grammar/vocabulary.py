"""The lexicon by use: which nouns are of a class, which verbs go with it, which prepositions."""

from __future__ import annotations

from functools import cache

from core.corpus.grammar.entries import (
    Adjective,
    Adverb,
    Frame,
    Noun,
    Preposition,
    SemanticClass,
    Tense,
    Verb,
)
from core.corpus.grammar.lexicon import ADJECTIVES, ADVERBS, NOUNS, PREPOSITIONS, VERBS

PERSON = frozenset({SemanticClass.PERSON})
THINGS = frozenset(SemanticClass) - PERSON

_NOUNS = {noun.english: noun for noun in NOUNS}
_ADJECTIVES = {adjective.english: adjective for adjective in ADJECTIVES}
_ADVERBS = {adverb.english: adverb for adverb in ADVERBS}
_PREPOSITIONS = {entry.english: entry for entry in PREPOSITIONS}


def noun(english: str) -> Noun:
    return _NOUNS[english]


def adjective(english: str) -> Adjective:
    return _ADJECTIVES[english]


def adverb(english: str) -> Adverb:
    return _ADVERBS[english]


def preposition(english: str) -> Preposition:
    return _PREPOSITIONS[english]


@cache
def verb(english: str, frame: Frame) -> Verb:
    """The verb by base form and English particle or preposition: "cross", "turn on"."""
    for entry in VERBS:
        parts = (entry.english.base, entry.english.particle, entry.english.preposition)
        if " ".join(filter(None, parts)) == english and entry.frame is frame:
            return entry
    raise KeyError(english)


@cache
def nouns(*classes: SemanticClass) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.semantic in classes)


@cache
def nouns_of(classes: frozenset[SemanticClass]) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.semantic in classes)


@cache
def verbs(*frames: Frame) -> tuple[Verb, ...]:
    return tuple(verb for verb in VERBS if verb.frame in frames)


@cache
def verbs_of(subject: SemanticClass, *frames: Frame) -> tuple[Verb, ...]:
    """Return the verbs that a noun of class ``subject`` can be the subject of."""
    return tuple(verb for verb in verbs(*frames) if subject in verb.subjects)


@cache
def verbs_on(thing: SemanticClass, *frames: Frame) -> tuple[Verb, ...]:
    """Return the verbs that a noun of class ``thing`` can be the object of."""
    return tuple(verb for verb in verbs(*frames) if thing in verb.objects)


@cache
def prepositions(relation: str, *, two_way: bool = False) -> tuple[Preposition, ...]:
    """Return the prepositions of ``relation``; ``two_way`` adds those for places and directions
    alike."""
    return tuple(
        entry
        for entry in PREPOSITIONS
        if entry.relation == relation or (two_way and entry.case is None)
    )


@cache
def adverbs(kind: str, tense: Tense) -> tuple[Adverb, ...]:
    return tuple(adverb for adverb in ADVERBS if adverb.kind == kind and tense in adverb.tenses)
