"""Families about one main clause: tenses, negation, modals, separable verbs, adverbs in front."""

from __future__ import annotations

from functools import cache

from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Case, Tense, Verb
from core.corpus.grammar.gradation import random_degree
from core.corpus.grammar.lexicon import VERBS
from core.corpus.grammar.nouns import random_noun_phrase
from core.corpus.grammar.phrases import noun_phrase
from core.corpus.grammar.predication import copula, random_modal, random_tense
from core.corpus.grammar.scenes import clause, subject_phrase
from core.corpus.grammar.sentence import Composition
from core.corpus.grammar.specifiers import NO
from core.corpus.grammar.verbs import SIMPLE
from core.corpus.grammar.vocabulary import (
    PERSON,
    THINGS,
    nouns_of,
)


def compose(result: Clause, draft: Draft) -> tuple[Composition]:
    return (Composition(result.english(), result.second(), draft.links),)


def simple(draft: Draft) -> tuple[Composition, ...]:
    """Draft any verb in any tense, or a predication."""
    tense = random_tense(draft)
    if draft.chance(0.3):
        return compose(predication(draft, tense), draft)
    verb = draft.pick(VERBS)
    return compose(clause(draft, verb, tense=tense), draft)


def predication(draft: Draft, tense: Tense, *, negated: bool = False) -> Clause:
    """Draft "The house is very old"."""
    noun = draft.noun(nouns_of(THINGS if draft.chance(0.8) else PERSON))
    subject = random_noun_phrase(draft, noun, Case.NOMINATIVE, negated=negated, plain=True)
    adjective = draft.adjective(noun)
    degree = random_degree(draft, adjective, negated=negated)
    return copula(draft, subject, adjective, tense=tense, degree_adverb=degree, negated=negated)


def negation(draft: Draft) -> tuple[Composition, ...]:
    tense = random_tense(draft)
    roll = draft.random.random()
    if roll < 0.2:
        return compose(predication(draft, tense, negated=True), draft)
    if roll < 0.3:
        return compose(_nobody(draft, tense), draft)
    return compose(clause(draft, draft.pick(VERBS), tense=tense, negated=True), draft)


def _nobody(draft: Draft, tense: Tense) -> Clause:
    """No dog slept: kein Hund schlief."""
    verb = draft.pick(VERBS)
    noun = draft.noun([entry for entry in nouns_of(verb.subjects) if entry.countable])
    subject = noun_phrase(draft, noun, Case.NOMINATIVE, specifier=NO)
    result = clause(draft, verb, tense=tense, subject=subject, bare=True)
    draft.link(DependencyKind.NEGATION, subject.german[0], result.verb.finite)
    return result


def perfect(draft: Draft) -> tuple[Composition, ...]:
    """Draft hat … gesehen, ist … gegangen."""
    draft.tense = Tense.PAST
    verb = draft.pick(VERBS)
    return compose(clause(draft, verb, tense=Tense.PERFECT, negated=draft.chance(0.15)), draft)


@cache
def _separable() -> tuple[Verb, ...]:
    return tuple(verb for verb in VERBS if verb.german.particle)


def separable(draft: Draft) -> tuple[Composition, ...]:
    """Draft ruft … an; in the perfect angerufen."""
    tense = draft.pick((*SIMPLE, *SIMPLE, *SIMPLE, Tense.PERFECT))
    draft.tense = Tense.PRESENT if tense is Tense.PRESENT else Tense.PAST
    verb = draft.pick(_separable())
    return compose(clause(draft, verb, tense=tense, negated=draft.chance(0.15)), draft)


def modal(draft: Draft) -> tuple[Composition, ...]:
    """Draft kann … sehen."""
    tense = draft.tense = draft.pick(SIMPLE)
    verb = draft.pick(VERBS)
    negated = draft.chance(0.25)
    subject = subject_phrase(draft, verb, negated=negated)
    result = clause(
        draft,
        verb,
        tense=tense,
        subject=subject,
        modal=random_modal(draft, tense, subject),
        negated=negated,
    )
    return compose(result, draft)
