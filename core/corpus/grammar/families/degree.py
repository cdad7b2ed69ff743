"""Comparison, and making something "more difficult": erschweren."""

from __future__ import annotations

from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.conjugation import MAKE
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import (
    Adjective,
    Case,
    Causative,
    Degree,
    Frame,
    Noun,
    Number,
    SemanticClass,
    Tense,
)
from core.corpus.grammar.families.plain import compose
from core.corpus.grammar.gradation import gradable
from core.corpus.grammar.lexicon import ADJECTIVES, CAUSATIVES, NOUNS
from core.corpus.grammar.morphology import predicative
from core.corpus.grammar.nouns import owner_phrase, random_noun_phrase, random_person
from core.corpus.grammar.phrases import (
    Phrase,
    adjective_words,
    noun_phrase,
    of_phrase,
    prepositional,
    with_modifier,
)
from core.corpus.grammar.predication import random_tense
from core.corpus.grammar.scenes import add_object, add_relative, clause
from core.corpus.grammar.sentence import Composition, English, German, Tree
from core.corpus.grammar.specifiers import THE, THIS, A
from core.corpus.grammar.verbs import BE_VERB, SEIN_VERB, verb_group
from core.corpus.grammar.vocabulary import noun, nouns, nouns_of, verbs_of, verbs_on

COMPARED = tuple(noun for noun in NOUNS if noun.semantic is not SemanticClass.FEELING)
BY_COMPARATIVE = {adjective.comparative: adjective for adjective in ADJECTIVES}
CAUSES = nouns(SemanticClass.IDEA, SemanticClass.EVENT, SemanticClass.INSTITUTION)
BUILDERS = nouns(SemanticClass.INSTITUTION, SemanticClass.PERSON)
BUILT = (
    SemanticClass.WAY,
    SemanticClass.BUILDING,
    SemanticClass.PLACE,
    SemanticClass.DEVICE,
    SemanticClass.VEHICLE,
)
SETTINGS = tuple(
    noun(english) for english in ("city", "village", "country", "region", "province", "district")
)


def comparative(draft: Draft) -> tuple[Composition, ...]:
    """Draft a comparison: größer als, so groß wie, das größte Haus."""
    tense = random_tense(draft)
    compared = draft.noun(COMPARED)
    adjective = draft.adjective(compared)
    if not gradable(adjective):
        return ()
    if draft.chance(0.3):
        return _in_degree(draft, compared, adjective, tense)
    subject = _definite(draft, compared)
    other_noun = draft.noun(nouns(compared.semantic))
    if not draft.may_combine(other_noun, adjective):
        return ()
    other = _definite(draft, other_noun)
    equal = draft.chance(0.4)
    negated = draft.chance(0.3 if equal else 0.1)
    result = comparison(draft, subject, adjective, other, tense, equal=equal, negated=negated)
    return compose(result, draft)


def _definite(draft: Draft, compared: Noun) -> Phrase:
    number = Number.PLURAL if compared.countable and draft.chance(0.25) else Number.SINGULAR
    specifier = THIS if draft.chance(0.2) else THE
    return noun_phrase(draft, compared, Case.NOMINATIVE, number=number, specifier=specifier)


def comparison(
    draft: Draft,
    subject: Phrase,
    adjective: Adjective,
    other: Phrase,
    tense: Tense,
    *,
    equal: bool = False,
    negated: bool = False,
) -> Clause:
    """Draft "older than the house" or, if ``equal``, "as old as the house"."""
    group = verb_group(
        draft, BE_VERB, SEIN_VERB, tense=tense, number=subject.number, negated=negated
    )
    result = Clause(draft, subject, group)
    if equal:
        first = English("as", "adverb")
        words = [first, *adjective_words(adjective)]
        link = English("as", "preposition")
        german_first = German("so", first)
        german = [german_first, German(predicative(adjective), *words[1:])]
        german_link = German("wie", link)
        draft.link(DependencyKind.COMPARATIVE, link, first)
        draft.link(DependencyKind.COMPARATIVE, german_link, german_first)
    else:
        words = adjective_words(adjective, Degree.COMPARATIVE)
        link = English("than", "preposition")
        german = [German(predicative(adjective, Degree.COMPARATIVE), *words)]
        german_link = German("als", link)
        draft.link(DependencyKind.COMPARATIVE, link, words[-1])
        draft.link(DependencyKind.COMPARATIVE, german_link, german[-1])
    draft.link(DependencyKind.PREDICATE, words[-1], subject.head)
    draft.link(DependencyKind.PREDICATE, german[-1], subject.german_head)
    tree = Tree("ADJP", *words, Tree("PP", link, other.tree))
    result.add_complement(tree, [*german, german_link, *other.german], [])
    return result


def _in_degree(
    draft: Draft, compared: Noun, adjective: Adjective, tense: Tense
) -> tuple[Composition, ...]:
    """ "the oldest house", "an older house" as the object of a person, or as subject"""
    superlative = draft.chance(0.6)
    degree = Degree.SUPERLATIVE if superlative else Degree.COMPARATIVE
    specifier = A if compared.countable and not superlative else THE
    verbs = [
        verb
        for verb in verbs_on(compared.semantic, Frame.TRANSITIVE)
        if SemanticClass.PERSON in verb.subjects
    ]
    if verbs and draft.chance(0.7):
        verb = draft.pick(verbs)
        thing = noun_phrase(
            draft,
            compared,
            Case.ACCUSATIVE,
            specifier=specifier,
            adjectives=[adjective],
            degree=degree,
        )
        subject = random_person(draft)
        group = verb_group(draft, verb.english, verb.german, tense=tense, number=subject.number)
        result = Clause(draft, subject, group)
        add_object(draft, result, verb, thing)
        return compose(result, draft)
    thing = noun_phrase(
        draft, compared, Case.NOMINATIVE, specifier=specifier, adjectives=[adjective], degree=degree
    )
    choices = verbs_of(compared.semantic, Frame.INTRANSITIVE)
    if not choices:
        return ()
    verb = draft.pick(choices)
    return compose(clause(draft, verb, tense=tense, subject=thing), draft)


def causative(draft: Draft) -> tuple[Composition, ...]:
    """The law makes the work of the doctors in the city more difficult: erschwert.

    German needs the far adjective at once.
    """
    tense = random_tense(draft)
    entry = draft.pick(CAUSATIVES)
    changed = draft.noun(nouns_of(entry.objects))
    causes = BUILDERS if changed.semantic in BUILT else CAUSES
    cause = random_noun_phrase(
        draft, draft.noun(causes), Case.NOMINATIVE, definite=draft.chance(0.5), plain=True
    )
    if not draft.may_combine(changed, BY_COMPARATIVE[entry.comparative]):
        return ()
    target = noun_phrase(draft, changed, Case.ACCUSATIVE)
    _lengthen(draft, target)
    return compose(made(draft, cause, entry, target, tense), draft)


def made(draft: Draft, cause: Phrase, entry: Causative, target: Phrase, tense: Tense) -> Clause:
    """Draft that ``cause`` makes ``target`` more difficult, in one German verb."""
    assert target.noun is not None
    adjective = BY_COMPARATIVE[entry.comparative]
    draft.combine(target.noun, adjective)
    group = verb_group(draft, MAKE, entry.german, tense=tense, number=cause.number)
    words = adjective_words(adjective, Degree.COMPARATIVE)
    for word in dict.fromkeys((group.german_main, *group.bracket)):
        if group.main in word.sources:
            word.sources = (*word.sources, *words)
    result = Clause(draft, cause, group)
    result.add_object(target, DependencyKind.OBJECT)
    result.english_after.append(Tree("ADJP", *words))
    draft.link(DependencyKind.CAUSATIVE, group.main, words[-1])
    draft.link(DependencyKind.PREDICATE, words[-1], target.head)
    return result


OF_SOMEONE = frozenset(
    {
        SemanticClass.ACTIVITY,
        SemanticClass.IDEA,
        SemanticClass.FEELING,
        SemanticClass.DOCUMENT,
        SemanticClass.DEVICE,
        SemanticClass.VEHICLE,
    }
)


def _lengthen(draft: Draft, target: Phrase) -> None:
    """Up to three phrases, or a relative clause, between the object and the adjective."""
    assert target.noun is not None
    steps = draft.pick((0, 0, 1, 1, 2, 3))
    owned = target.noun.semantic in OF_SOMEONE
    if steps == 0 and draft.chance(0.3):
        add_relative(draft, target, role="object", subject=random_person(draft))
    if steps > 0 and owned:
        of_phrase(target, owner_phrase(draft))
    if steps > 2 and owned:
        institution = draft.noun(nouns(SemanticClass.INSTITUTION))
        of_phrase(target, noun_phrase(draft, institution, Case.GENITIVE))
    if steps > 1 and target.noun.semantic is not SemanticClass.PLACE:
        place = noun_phrase(draft, draft.noun(SETTINGS), Case.DATIVE)
        with_modifier(target, *prepositional("in", "in", place))
