"""Tenses and modals for a clause, and clauses that say how something is."""

from __future__ import annotations

from core.corpus.grammar.adverbials import adverb_words
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Adjective, Adverb, Modal, Noun, SemanticClass, Tense
from core.corpus.grammar.morphology import predicative
from core.corpus.grammar.phrases import Phrase, adjective_words
from core.corpus.grammar.sentence import German, Tree
from core.corpus.grammar.verbs import BE_VERB, SEIN_VERB, modals, verb_group

TENSES = (Tense.PAST, Tense.PRESENT, Tense.PERFECT, Tense.FUTURE)
LIVING = frozenset({SemanticClass.PERSON, SemanticClass.ANIMAL})


def embedded(tense: Tense) -> Tense:
    """The tense of a subordinate clause about the same time."""
    return Tense.PAST if tense in (Tense.PAST, Tense.PERFECT) else Tense.PRESENT


def random_tense(draft: Draft) -> Tense:
    """A tense for the main clause; subordinate clauses follow it."""
    tense = Tense.PAST if draft.chance(0.35) else draft.pick(TENSES)
    draft.tense = embedded(tense)
    return tense


def random_modal(draft: Draft, tense: Tense, subject: Phrase) -> Modal:
    """A modal verb that suits the subject: only the living want and may."""
    living = subject.noun is None or subject.noun.semantic in LIVING
    return draft.pick(modals(tense, living=living))


def copula(
    draft: Draft,
    subject: Phrase,
    adjective: Adjective,
    *,
    tense: Tense,
    degree_adverb: Adverb | None = None,
    noun: Noun | None = None,
    negated: bool = False,
    modal: Modal | None = None,
    inverted: bool = False,
    final: bool = False,
) -> Clause:
    """Return "``subject`` is ``adjective``"; ``noun`` is what the subject stands for, if a
    pronoun."""
    group = verb_group(
        draft,
        BE_VERB,
        SEIN_VERB,
        tense=tense,
        number=subject.number,
        modal=modal,
        negated=negated,
        inverted=inverted,
        final=final,
    )
    result = Clause(draft, subject, group)
    words = adjective_words(adjective)
    german = [German(predicative(adjective), *words)]
    draft.link(DependencyKind.PREDICATE, words[-1], subject.head)
    draft.link(DependencyKind.PREDICATE, german[0], subject.german_head)
    described = noun or subject.noun
    if described is not None:
        draft.combine(described, adjective)
    if degree_adverb is not None:
        tree, degree = adverb_words(degree_adverb)
        result.add_complement(Tree("ADJP", *tree.children, *words), [*degree, *german], [])
    else:
        result.add_complement(Tree("ADJP", *words), german, [])
    return result
