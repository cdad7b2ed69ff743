"""Families about the place of the finite verb: adverbs in front, questions, subordinate clauses."""

from __future__ import annotations

from core.corpus.grammar.adverbials import adverb_words, preposition_with_object
from core.corpus.grammar.clausal import CLAUSE_VERBS, CONJUNCTIONS, Conjunction
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Case, Frame, Number, SemanticClass, Tense
from core.corpus.grammar.gradation import random_degree
from core.corpus.grammar.lexicon import VERBS
from core.corpus.grammar.nouns import random_person
from core.corpus.grammar.phrases import (
    PRONOUN_GENDERS,
    Phrase,
    comma,
    english_comma,
    pronoun_phrase,
)
from core.corpus.grammar.predication import copula, embedded, random_tense
from core.corpus.grammar.scenes import clause
from core.corpus.grammar.sentence import Composition, English, German, Tree
from core.corpus.grammar.verbs import verb_group
from core.corpus.grammar.vocabulary import PERSON, adverbs, preposition, prepositions, verbs_of

FRONT_PREPOSITIONS = (
    *prepositions("time"),
    *prepositions("cause"),
    preposition("according to"),
)


def fronted(draft: Draft) -> tuple[Composition, ...]:
    """Draft Gestern kaufte der Mann …: what comes first pushes the subject behind the verb."""
    tense = random_tense(draft)
    roll = draft.random.random()
    after: list[English] = []
    verb, subject = draft.pick(VERBS), None
    if roll < 0.4 and tense is not Tense.PERFECT:
        tree, german = adverb_words(draft.pick(adverbs("time", tense)))
    elif roll < 0.6:
        entry = draft.pick(adverbs("sentence", tense))
        tree, german = adverb_words(entry)
        after = [] if entry.english == "perhaps" else [english_comma()]
    elif roll < 0.7:
        tree, german = preposition_with_object(
            draft, preposition("instead of"), Case.GENITIVE, PERSON
        )
        verb = draft.pick(verbs_of(SemanticClass.PERSON, Frame.TRANSITIVE, Frame.INTRANSITIVE))
        subject = random_person(draft)
    else:
        opening = draft.pick(FRONT_PREPOSITIONS)
        tense = Tense.PERFECT if opening.english == "since" else tense
        tree, german = preposition_with_object(draft, opening, Case.DATIVE)
    main = clause(draft, verb, tense=tense, subject=subject, negated=draft.chance(0.15), bare=True)
    draft.link(DependencyKind.FRONTED, main.verb.finite, german[0])
    english = Tree("S", tree, *after, *main.english().children)
    return (Composition(english, main.second(german), draft.links),)


def subordinate(draft: Draft) -> tuple[Composition, ...]:
    """Draft weil, obwohl, wenn, dass, ob …: the finite verb goes to the end."""
    if draft.chance(0.4):
        return _said(draft)
    tense = random_tense(draft)
    conjunction = draft.pick([entry for entry in CONJUNCTIONS if tense in entry.tenses])
    negated = draft.chance(0.15)
    main = clause(draft, draft.pick(VERBS), tense=tense, negated=negated, bare=True)
    english = English(conjunction.english, "conjunction")
    german = German(conjunction.german, english)
    reason = _subordinate_clause(draft, main.subject, embedded(tense), conjunction)
    draft.link(DependencyKind.SUBORDINATE, reason.verb.finite, german)
    tree = Tree("SBAR", english, reason.english())
    clause_words = [german, *reason.final()]
    if draft.chance(0.35):
        front = [*clause_words, comma()]
        children = (tree, english_comma(), *main.english().children)
        return (Composition(Tree("S", *children), main.second(front), draft.links),)
    return (
        Composition(
            Tree("S", *main.english().children, tree),
            [*main.second(), comma(), *clause_words],
            draft.links,
        ),
    )


def _subordinate_clause(
    draft: Draft, subject: Phrase, tense: Tense, conjunction: Conjunction
) -> Clause:
    """What somebody does; or, after "because" and the like, how the main clause's subject is."""
    noun = subject.noun
    clear = noun is not None and (noun.pronoun != "it" or draft.used == [noun])
    if conjunction.states and noun is not None and clear and draft.chance(0.7):
        entry = draft.adjective(noun)
        return copula(
            draft,
            subject_again(draft, subject),
            entry,
            tense=tense,
            noun=noun,
            degree_adverb=random_degree(draft, entry),
            final=True,
        )
    negated = conjunction.states and draft.chance(0.15)
    return clause(draft, draft.pick(VERBS), tense=tense, final=True, negated=negated, bare=True)


def subject_again(draft: Draft, antecedent: Phrase, case: Case = Case.NOMINATIVE) -> Phrase:
    """The pronoun for ``antecedent``, linked to it."""
    noun = antecedent.noun
    assert noun is not None
    plural = antecedent.number is Number.PLURAL
    gender = PRONOUN_GENDERS.get(noun.pronoun, noun.gender)
    pronoun = pronoun_phrase("they" if plural else noun.pronoun, case, gender)
    draft.link(DependencyKind.COREFERENCE, pronoun.head, antecedent.head)
    draft.link(DependencyKind.COREFERENCE, pronoun.german_head, antecedent.german_head)
    return pronoun


def _said(draft: Draft) -> tuple[Composition, ...]:
    tense = random_tense(draft)
    verb = draft.pick(CLAUSE_VERBS)
    subject = random_person(draft)
    group = verb_group(draft, verb.english, verb.german, tense=tense, number=subject.number)
    main = Clause(draft, subject, group)
    inner_verb = draft.pick(VERBS)
    inner = clause(draft, inner_verb, tense=draft.tense, final=True, negated=draft.chance(0.15))
    english = English("whether" if verb.whether else "that", "conjunction")
    german = German("ob" if verb.whether else "dass", english)
    draft.link(DependencyKind.SUBORDINATE, inner.verb.finite, german)
    main.english_after.append(Tree("SBAR", english, inner.english()))
    return (
        Composition(main.english(), [*main.second(), comma(), german, *inner.final()], draft.links),
    )
