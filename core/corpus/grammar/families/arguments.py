"""Families about the verb's arguments: places and directions, datives, the passive."""

from __future__ import annotations

from functools import cache

from core.corpus.grammar.adverbials import add_time
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Case, Frame, SemanticClass, Tense, Verb
from core.corpus.grammar.families.plain import compose
from core.corpus.grammar.lexicon import VERBS
from core.corpus.grammar.nouns import random_name, random_noun, random_noun_phrase
from core.corpus.grammar.phrases import Phrase, prepositional
from core.corpus.grammar.predication import random_modal, random_tense
from core.corpus.grammar.scenes import clause, maybe_relative, subject_phrase
from core.corpus.grammar.sentence import Composition
from core.corpus.grammar.verbs import SIMPLE, modals, verb_group
from core.corpus.grammar.vocabulary import PERSON, nouns, verbs


def place(draft: Draft) -> tuple[Composition, ...]:
    """Draft two-way prepositions: in den Garten (where to), im Garten (where)."""
    tense = random_tense(draft)
    frame = draft.pick((Frame.LOCATIVE, Frame.DIRECTIONAL))
    verb = draft.pick(verbs(frame))
    negated = draft.chance(0.15)
    subject = subject_phrase(draft, verb, negated=negated)
    modal = None
    if tense in SIMPLE and draft.chance(0.15):
        modal = random_modal(draft, tense, subject)
    return compose(
        clause(draft, verb, tense=tense, subject=subject, negated=negated, modal=modal), draft
    )


def dative(draft: Draft) -> tuple[Composition, ...]:
    """Draft verbs with the dative, and with dative and accusative: gab dem Mann das Buch."""
    tense = random_tense(draft)
    negated = draft.chance(0.15)
    if draft.chance(0.4):
        verb = draft.pick(verbs(Frame.DATIVE))
        return compose(clause(draft, verb, tense=tense, negated=negated), draft)
    verb = draft.pick(verbs(Frame.DITRANSITIVE))
    if draft.chance(0.6):
        return compose(clause(draft, verb, tense=tense, negated=negated), draft)
    return compose(_given_to(draft, verb, tense, negated), draft)


def _given_to(draft: Draft, verb: Verb, tense: Tense, negated: bool) -> Clause:
    """gave the book to the man, gave it to him: German keeps dative before accusative nouns."""
    subject = subject_phrase(draft, verb, negated=negated)
    group = verb_group(
        draft,
        verb.english,
        verb.german,
        tense=tense,
        number=subject.number,
        negated=negated,
    )
    result = Clause(draft, subject, group)
    person = draft.noun(nouns(SemanticClass.PERSON))
    recipient = random_noun_phrase(draft, person, Case.DATIVE, definite=negated, plain=True)
    thing = random_noun_phrase(
        draft, random_noun(draft, verb.objects), Case.ACCUSATIVE, definite=negated, plain=True
    )
    result.add_object(recipient, DependencyKind.INDIRECT_OBJECT, preposition="to")
    result.add_object(thing, DependencyKind.OBJECT)
    *before, to_person, given = result.english_after
    result.english_after = [*before, given, to_person]
    return result


def passive(draft: Draft) -> tuple[Composition, ...]:
    """Draft a passive: wurde von der Frau gesehen; worden in the perfect."""
    tense = random_tense(draft)
    verb = draft.pick(_passive_verbs())
    negated = draft.chance(0.2)
    patient = random_noun_phrase(
        draft, random_noun(draft, verb.objects), Case.NOMINATIVE, negated=negated
    )
    maybe_relative(draft, patient, 0)
    modal = None
    if tense in SIMPLE and draft.chance(0.2):
        modal = draft.pick(modals(tense, living=False))
    group = verb_group(
        draft,
        verb.english,
        verb.german,
        tense=tense,
        number=patient.number,
        modal=modal,
        negated=negated,
        passive=True,
    )
    result = Clause(draft, patient, group)
    if draft.chance(0.65):
        agent = _agent(draft, verb)
        result.add_adjunct(*prepositional("by", "von", agent))
    if tense is not Tense.PERFECT and draft.chance(0.2):
        add_time(draft, result, tense, negated=negated)
    return compose(result, draft)


def _agent(draft: Draft, verb: Verb) -> Phrase:
    if verb.subjects >= PERSON and draft.chance(0.2):
        return random_name(draft)
    agent = random_noun(draft, verb.subjects)
    return random_noun_phrase(draft, agent, Case.DATIVE, definite=True, plain=True)


@cache
def _passive_verbs() -> tuple[Verb, ...]:
    return tuple(verb for verb in VERBS if verb.passive)
