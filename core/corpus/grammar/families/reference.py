"""Families about what a word refers to: possessives, relative clauses, far-away subjects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import (
    Case,
    Frame,
    Gender,
    Noun,
    Number,
    SemanticClass,
    Tense,
    Verb,
)
from core.corpus.grammar.families.plain import compose
from core.corpus.grammar.gradation import random_degree
from core.corpus.grammar.lexicon import NAMES, VERBS
from core.corpus.grammar.nouns import owner_phrase, random_noun, random_noun_phrase, sited
from core.corpus.grammar.phrases import (
    PRONOUN_GENDERS,
    Phrase,
    comma,
    english_comma,
    name_phrase,
    noun_phrase,
    of_phrase,
    prepositional,
    with_modifier,
)
from core.corpus.grammar.predication import copula, embedded, random_tense
from core.corpus.grammar.scenes import add_object, add_relative, clause
from core.corpus.grammar.sentence import Composition, English, German, Tree
from core.corpus.grammar.specifiers import possessive as possessive_specifier
from core.corpus.grammar.verbs import verb_group
from core.corpus.grammar.vocabulary import PERSON, noun, nouns, verbs_of, verbs_on

C = SemanticClass
SINGULAR, PLURAL = Number.SINGULAR, Number.PLURAL

BELONGINGS: tuple[tuple[tuple[Noun, ...], tuple[Noun, ...]], ...] = (
    (
        tuple(noun(word) for word in ("law", "method", "theory", "rule", "concept", "principle")),
        tuple(noun(word) for word in ("application", "goal", "result")),
    ),
    (
        nouns(C.VEHICLE),
        tuple(noun(word) for word in ("engine", "wheel", "driver", "lamp", "price")),
    ),
    (
        nouns(C.BUILDING),
        tuple(noun(word) for word in ("kitchen", "cellar", "hall", "garden", "courtyard", "tower")),
    ),
    (
        nouns(C.INSTITUTION),
        tuple(
            noun(word)
            for word in ("decision", "goal", "plan", "report", "project", "proposal", "boss")
        ),
    ),
    (nouns(C.DOCUMENT), tuple(noun(word) for word in ("translation", "goal", "story"))),
    (nouns(C.DEVICE), tuple(noun(word) for word in ("price",))),
)
"""Owners and what is theirs: "the car … its engine"."""

PERSONAL = (
    *nouns(C.ANIMAL, C.VEHICLE, C.CLOTHING, C.DOCUMENT),
    *(noun(word) for word in ("house", "apartment", "garden", "room", "office")),
    *(noun(word) for word in ("brother", "sister", "son", "daughter", "friend", "colleague")),
)
"""What a person has."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A phrase in the nominative or as object, and what its possessive depends on."""

    phrase: Phrase
    pronoun: str
    gender: Gender


def possessive(draft: Draft) -> tuple[Composition, ...]:
    """Draft its, his, her, their: sein- or ihr- by the owner's gender, with the ending of its
    noun."""
    build = draft.pick((_own_object, _own_object, _described, _described, _reason, _bought_for))
    return build(draft)


def _person(draft: Draft) -> Owner:
    if draft.chance(0.25):
        name = draft.pick(NAMES)
        return Owner(name_phrase(name), name.pronoun, PRONOUN_GENDERS[name.pronoun])
    return _owner(draft, draft.noun(nouns(C.PERSON)), Case.NOMINATIVE)


def _owner(draft: Draft, owner: Noun, case: Case) -> Owner:
    number = PLURAL if owner.countable and draft.chance(0.2) else SINGULAR
    phrase = random_noun_phrase(draft, owner, case, number=number, definite=True, plain=True)
    return Owner(phrase, owner.pronoun, owner.gender)


def owned(draft: Draft, thing: Noun, case: Case, owner: Owner, number: Number = SINGULAR) -> Phrase:
    """Return "her new car": ``thing`` with the possessive of ``owner``."""
    plain = case is Case.NOMINATIVE
    adjectives = [] if plain or draft.chance(0.6) else [draft.adjective(thing)]
    phrase = noun_phrase(
        draft,
        thing,
        case,
        number=number,
        specifier=possessive_specifier(owner.pronoun, owner.gender, owner.phrase.number),
        adjectives=adjectives,
    )
    its = phrase.tree.children[0]
    assert isinstance(its, English)
    draft.link(DependencyKind.POSSESSIVE, its, owner.phrase.head)
    draft.link(DependencyKind.POSSESSIVE, phrase.german[0], owner.phrase.german_head)
    return phrase


@cache
def _verbs_with(things: tuple[Noun, ...], owners: C) -> tuple[Verb, ...]:
    """Verbs that owners of a class do to some of ``things``."""
    return tuple(
        verb for verb in verbs_of(owners, Frame.TRANSITIVE) if _objects_among(things, verb)
    )


@cache
def _objects_among(things: tuple[Noun, ...], verb: Verb) -> tuple[Noun, ...]:
    return tuple(thing for thing in things if thing.semantic in verb.objects)


def _own_object(draft: Draft) -> tuple[Composition, ...]:
    """The woman sold her car."""
    tense = random_tense(draft)
    if draft.chance(0.75):
        owner = _person(draft)
        things = PERSONAL
        verb = draft.pick(_verbs_with(things, C.PERSON))
    else:
        owners, things = BELONGINGS[3]
        owner = _owner(draft, draft.noun(owners), Case.NOMINATIVE)
        verb = draft.pick(_verbs_with(things, C.INSTITUTION))
    group = verb_group(
        draft,
        verb.english,
        verb.german,
        tense=tense,
        number=owner.phrase.number,
        negated=draft.chance(0.2),
    )
    result = Clause(draft, owner.phrase, group)
    thing = draft.noun(_objects_among(things, verb))
    number = PLURAL if thing.countable and draft.chance(0.2) else SINGULAR
    add_object(draft, result, verb, owned(draft, thing, Case.ACCUSATIVE, owner, number))
    return compose(result, draft)


def _described(draft: Draft) -> tuple[Composition, ...]:
    """The law is old, but its application is fair."""
    tense = draft.pick((Tense.PAST, Tense.PRESENT))
    owner, things = _some_owner(draft)
    first = copula(draft, owner.phrase, draft.adjective(_noun_of(owner)), tense=tense)
    second = _copula_of(draft, owner, draft.noun(things), tense)
    conjunction = English("but", "conjunction")
    german = German("aber", conjunction)
    tree = Tree("S", first.english(), english_comma(), conjunction, second.english())
    return (Composition(tree, [*first.second(), comma(), german, *second.second()], draft.links),)


def _copula_of(
    draft: Draft, owner: Owner, thing: Noun, tense: Tense, *, final: bool = False
) -> Clause:
    """ "its engine is very loud"; several owners have several things."""
    number = owner.phrase.number if thing.countable else SINGULAR
    adjective = draft.adjective(thing)
    return copula(
        draft,
        owned(draft, thing, Case.NOMINATIVE, owner, number),
        adjective,
        tense=tense,
        degree_adverb=random_degree(draft, adjective),
        final=final,
    )


def _noun_of(owner: Owner) -> Noun:
    assert owner.phrase.noun is not None
    return owner.phrase.noun


def _some_owner(draft: Draft) -> tuple[Owner, tuple[Noun, ...]]:
    if draft.chance(0.3):
        return _owner(draft, draft.noun(nouns(C.PERSON)), Case.NOMINATIVE), PERSONAL
    owners, things = draft.pick(BELONGINGS)
    return _owner(draft, draft.noun(owners), Case.NOMINATIVE), things


def _because(
    draft: Draft, main: Clause, owner: Owner, thing: Noun, tense: Tense
) -> tuple[Composition, ...]:
    conjunction = English("because", "conjunction")
    german = German("weil", conjunction)
    reason = _copula_of(draft, owner, thing, tense, final=True)
    draft.link(DependencyKind.SUBORDINATE, reason.verb.finite, german)
    tree = Tree("S", *main.english().children, Tree("SBAR", conjunction, reason.english()))
    return (Composition(tree, [*main.second(), comma(), german, *reason.final()], draft.links),)


def _reason(draft: Draft) -> tuple[Composition, ...]:
    """The boy cried because his dog was sick."""
    tense = random_tense(draft)
    owner = _person(draft)
    verb = draft.pick(_reason_verbs())
    main = clause(draft, verb, tense=tense, subject=owner.phrase, bare=True)
    return _because(draft, main, owner, draft.noun(PERSONAL), embedded(tense))


@cache
def _reason_verbs() -> tuple[Verb, ...]:
    return tuple(
        verb
        for verb in verbs_of(C.PERSON, Frame.INTRANSITIVE)
        if verb.english.base in ("cry", "laugh", "smile", "hesitate", "tremble")
    )


def _bought_for(draft: Draft) -> tuple[Composition, ...]:
    """The farmer bought the tractor because its engine was strong."""
    tense = random_tense(draft)
    owners, things = draft.pick((BELONGINGS[1], BELONGINGS[2], BELONGINGS[3]))
    bought = draft.pick(owners)
    verb = draft.pick(
        [verb for verb in verbs_on(bought.semantic, Frame.TRANSITIVE) if verb.subjects >= PERSON]
    )
    buyer = _person(draft)
    group = verb_group(draft, verb.english, verb.german, tense=tense, number=buyer.phrase.number)
    main = Clause(draft, buyer.phrase, group)
    owner = _owner(draft, bought, Case.ACCUSATIVE)
    add_object(draft, main, verb, owner.phrase)
    return _because(draft, main, owner, draft.noun(things), embedded(tense))


def relative(draft: Draft) -> tuple[Composition, ...]:
    """Draft relative clauses in every case, up to two deep, on the subject or the object."""
    tense = random_tense(draft)
    nested = draft.chance(0.25)
    if draft.chance(0.55):
        verb = draft.pick(VERBS)
        phrase = random_noun_phrase(
            draft, random_noun(draft, verb.subjects), Case.NOMINATIVE, plain=True
        )
        if not add_relative(draft, phrase, nested=nested):
            return ()
        return compose(clause(draft, verb, tense=tense, subject=phrase, bare=True), draft)
    verb = draft.pick(verbs_of(C.PERSON, Frame.TRANSITIVE))
    subject = _person(draft).phrase
    group = verb_group(draft, verb.english, verb.german, tense=tense, number=subject.number)
    result = Clause(draft, subject, group)
    phrase = random_noun_phrase(
        draft, random_noun(draft, verb.objects), Case.ACCUSATIVE, plain=True
    )
    if not add_relative(draft, phrase, nested=nested):
        return ()
    add_object(draft, result, verb, phrase)
    return compose(result, draft)


def agreement(draft: Draft) -> tuple[Composition, ...]:
    """The dogs near the house sleep: not what lies between decides the number of the verb."""
    tense = draft.pick((Tense.PRESENT, Tense.PRESENT, Tense.PERFECT, Tense.PAST))
    draft.tense = embedded(tense)
    subject_noun = draft.noun(nouns(C.PERSON, C.ANIMAL, C.VEHICLE, C.BUILDING, C.DOCUMENT))
    number, other = draft.pick(((SINGULAR, PLURAL), (PLURAL, SINGULAR)))
    subject = noun_phrase(draft, subject_noun, Case.NOMINATIVE, number=number)
    _attract(draft, subject, subject_noun, other)
    if tense is Tense.PAST or draft.chance(0.4):
        result = copula(draft, subject, draft.adjective(subject_noun), tense=tense)
    else:
        verb = draft.pick(verbs_of(subject_noun.semantic, Frame.INTRANSITIVE, Frame.TRANSITIVE))
        result = clause(draft, verb, tense=tense, subject=subject, bare=True)
    return compose(result, draft)


def _attract(draft: Draft, subject: Phrase, subject_noun: Noun, number: Number) -> None:
    """Put a noun of ``number`` between the subject and its verb."""
    semantic = subject_noun.semantic
    roll = draft.random.random()
    if semantic is C.PERSON and roll < 0.4:
        company = noun_phrase(
            draft, draft.noun(nouns(C.PERSON, C.ANIMAL)), Case.DATIVE, number=number
        )
        with_modifier(subject, *prepositional("with", "mit", company))
    elif semantic is C.DOCUMENT or (semantic in (C.ANIMAL, C.VEHICLE) and roll < 0.4):
        of_phrase(subject, owner_phrase(draft, number))
    else:
        sited(draft, subject, number)
