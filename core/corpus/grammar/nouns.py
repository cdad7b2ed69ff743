"""Noun phrases with random specifier, number, adjective and modifiers, but no relative clause."""

from __future__ import annotations

from core.corpus.grammar.draft import TEST, Draft
from core.corpus.grammar.entries import Case, Noun, Number, SemanticClass
from core.corpus.grammar.lexicon import NAMES, NUMERALS
from core.corpus.grammar.phrases import (
    Phrase,
    name_phrase,
    noun_phrase,
    of_phrase,
    prepositional,
    with_modifier,
)
from core.corpus.grammar.sentence import English
from core.corpus.grammar.specifiers import BARE, EVERY, MANY, SOME, THE, THIS, A
from core.corpus.grammar.vocabulary import nouns, nouns_of, prepositions

OWNED = frozenset(
    {
        SemanticClass.ANIMAL,
        SemanticClass.BUILDING,
        SemanticClass.DOCUMENT,
        SemanticClass.IDEA,
        SemanticClass.TOOL,
        SemanticClass.CLOTHING,
        SemanticClass.VEHICLE,
        SemanticClass.FEELING,
    }
)
"""What can be the "… of a person"."""

SITED = frozenset(
    {SemanticClass.PERSON, SemanticClass.ANIMAL, SemanticClass.VEHICLE, SemanticClass.BUILDING}
)
"""What can be "… near a building", and the like."""

SITES = ("near", "behind", "in front of", "next to")

MASS_AS_OBJECT = (SemanticClass.FOOD, SemanticClass.DRINK)


def random_noun_phrase(
    draft: Draft,
    noun: Noun,
    case: Case,
    *,
    negated: bool = False,
    negator: English | None = None,
    definite: bool = False,
    number: Number | None = None,
    plain: bool = False,
) -> Phrase:
    """``noun`` as subject or object.

    ``negated``: the clause is, so quantifiers and indefinite subjects would be ambiguous; an
    object gets its ``negator`` too. ``definite``: with "the" only. ``plain``: without modifiers.
    """
    is_object = case is not Case.NOMINATIVE
    indefinite = not definite and (not negated or negator is not None)
    quantified = not definite and not negated
    numeral = None
    specifier = THE
    if number is None:
        plural = noun.countable and draft.chance(0.25)
        number = Number.PLURAL if plural else Number.SINGULAR
    roll = draft.random.random()
    if number is Number.PLURAL:
        if roll < 0.1 and indefinite and is_object and case is not Case.GENITIVE:
            specifier = BARE
        elif roll < 0.25 and quantified:
            specifier = BARE if draft.chance(0.4) else THE
            numeral = draft.pick(NUMERALS)
        elif roll < 0.4 and quantified:
            specifier = draft.pick((SOME, MANY))
        elif roll < 0.5:
            specifier = THIS
    elif not noun.countable:
        if roll < 0.2 and indefinite and is_object and noun.semantic in MASS_AS_OBJECT:
            specifier = BARE
        elif roll < 0.3:
            specifier = THIS
    elif roll < 0.27 and indefinite:
        specifier = A
    elif roll < 0.32 and quantified:
        specifier = EVERY
    elif roll < 0.4:
        specifier = THIS
    adjectives = []
    if draft.chance(0.65 if draft.split == TEST else 0.3):
        adjectives.append(draft.adjective(noun))
    phrase = noun_phrase(
        draft,
        noun,
        case,
        number=number,
        specifier=specifier,
        adjectives=adjectives,
        numeral=numeral,
        negator=negator,
    )
    if not plain and specifier is THE and draft.chance(0.1):
        return modified(draft, phrase)
    return phrase


def modified(draft: Draft, phrase: Phrase) -> Phrase:
    """``phrase`` with an owner or a place, where its noun can have one."""
    noun = phrase.noun
    if noun is None:
        return phrase
    if noun.semantic in OWNED and draft.chance(0.6):
        return of_phrase(phrase, owner_phrase(draft))
    if noun.semantic in SITED:
        return sited(draft, phrase)
    return phrase


def owner_phrase(draft: Draft, number: Number | None = None) -> Phrase:
    """A person in the genitive."""
    person = draft.noun(nouns(SemanticClass.PERSON))
    if number is None and draft.chance(0.2):
        number = Number.PLURAL
    return noun_phrase(draft, person, Case.GENITIVE, number=number or Number.SINGULAR)


def sited(draft: Draft, phrase: Phrase, number: Number | None = None) -> Phrase:
    """``phrase`` near, behind, in front of or next to a building."""
    entry = draft.pick(
        [entry for entry in prepositions("place", two_way=True) if entry.english in SITES]
    )
    building = draft.noun(nouns(SemanticClass.BUILDING))
    if number is None:
        number = Number.SINGULAR
    site = noun_phrase(draft, building, Case.DATIVE, number=number)
    return with_modifier(phrase, *prepositional(entry.english, entry.german, site))


def random_person(draft: Draft) -> Phrase:
    """A person as subject, by name at times."""
    if draft.chance(0.25):
        return random_name(draft)
    return noun_phrase(draft, draft.noun(nouns(SemanticClass.PERSON)), Case.NOMINATIVE)


def random_name(draft: Draft) -> Phrase:
    return name_phrase(draft.pick(NAMES))


def random_noun(draft: Draft, classes: frozenset[SemanticClass]) -> Noun:
    return draft.noun(nouns_of(classes))
