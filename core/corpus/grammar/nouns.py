"""Noun phrases with random specifier, number, adjective and modifiers, but no relative clause."""

from __future__ import annotations

from core.corpus.grammar.draft import TEST, Draft
from core.corpus.grammar.entries import Case, Noun, Number, Numeral, SemanticClass
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
from core.corpus.grammar.specifiers import BARE, EVERY, MANY, SOME, THE, THIS, A, Specifier, named
from core.corpus.grammar.vocabulary import nouns, nouns_of, preposition, prepositions

OWNED = frozenset(
    {
        SemanticClass.ANIMAL,
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

TOPICAL = {
    "article": "about",
    "book": "about",
    "essay": "about",
    "lecture": "about",
    "poem": "about",
    "report": "about",
    "speech": "about",
    "story": "about",
    "text": "about",
    "argument": "against",
    "law": "against",
    "plan": "against",
    "rule": "against",
    "strike": "against",
}
"""What is about something, or against it."""

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
    """Return a random phrase with ``noun`` as subject or object.

    ``negated``: the clause is, so quantifiers and indefinite subjects would be ambiguous; an
    object gets its ``negator`` too. ``definite``: with "the" only. ``plain``: without modifiers.
    """
    if number is None:
        plural = noun.countable and draft.chance(0.25)
        number = Number.PLURAL if plural else Number.SINGULAR
    specifier, numeral = THE, None
    if not definite:
        specifier, numeral = _random_specifier(
            draft, noun, number, case is not Case.NOMINATIVE, negated, negator is not None
        )
    elif draft.chance(0.08):
        specifier = THIS
    if specifier is THE and numeral is None and noun.semantic in OWNED and draft.chance(0.06):
        specifier = named(draft.pick(NAMES))
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


def _random_specifier(
    draft: Draft, noun: Noun, number: Number, is_object: bool, negated: bool, kein: bool
) -> tuple[Specifier, Numeral | None]:
    """Specifier and numeral; ``kein``: an indefinite phrase can take in the negation."""
    indefinite = not negated or kein
    roll = draft.random.random()
    if roll > 0.92:
        return THIS, None
    if number is Number.PLURAL:
        if roll < 0.15 and indefinite and is_object:
            return BARE, None
        if roll < 0.3 and not negated:
            return BARE if is_object else THE, draft.pick(NUMERALS)
        if roll < 0.45 and not negated:
            return draft.pick((SOME, MANY)), None
    elif not noun.countable:
        if roll < 0.25 and indefinite and is_object and noun.semantic in MASS_AS_OBJECT:
            return BARE, None
    elif roll < 0.27 and indefinite:
        return A, None
    elif 0.27 <= roll < 0.33 and not negated:
        return EVERY, None
    return THE, None


def modified(draft: Draft, phrase: Phrase) -> Phrase:
    """Return ``phrase`` with a topic, an owner or a place, where its noun can have one."""
    noun = phrase.noun
    if noun is None:
        return phrase
    if noun.english in TOPICAL and draft.chance(0.5):
        entry = preposition(TOPICAL[noun.english])
        topic = draft.noun(nouns_of(entry.objects))
        about = noun_phrase(draft, topic, Case.ACCUSATIVE)
        return with_modifier(phrase, *prepositional(entry.english, entry.german, about))
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
    """Return ``phrase`` near, behind, in front of or next to a building."""
    entry = draft.pick(
        [entry for entry in prepositions("place", two_way=True) if entry.english in SITES]
    )
    building = draft.noun(nouns(SemanticClass.BUILDING))
    if number is None:
        number = Number.SINGULAR
    site = noun_phrase(draft, building, Case.DATIVE, number=number)
    return with_modifier(phrase, *prepositional(entry.english, entry.german, site))


def random_person(draft: Draft, *, rich: bool = False) -> Phrase:
    """A person as subject, by name at times; ``rich`` asks for adjectives and places."""
    if not rich and draft.chance(0.25):
        return random_name(draft)
    noun = draft.noun(nouns(SemanticClass.PERSON))
    adjectives = [draft.adjective(noun)] if draft.chance(0.7 if rich else 0.25) else []
    phrase = noun_phrase(draft, noun, Case.NOMINATIVE, adjectives=adjectives)
    return sited(draft, phrase) if draft.chance(0.6 if rich else 0.04) else phrase


def random_name(draft: Draft) -> Phrase:
    return name_phrase(draft.pick(NAMES))


def random_noun(draft: Draft, classes: frozenset[SemanticClass]) -> Noun:
    return draft.noun(nouns_of(classes))
