"""The family "coordination": and, or, but between words, verb phrases and clauses."""

from __future__ import annotations

from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Case, Frame, Number, SemanticClass, Tense, Verb
from core.corpus.grammar.families.plain import compose
from core.corpus.grammar.lexicon import VERBS
from core.corpus.grammar.nouns import random_name, random_noun, random_noun_phrase, random_person
from core.corpus.grammar.phrases import (
    Phrase,
    comma,
    english_comma,
    noun_phrase,
    pronoun_phrase,
)
from core.corpus.grammar.predication import random_tense
from core.corpus.grammar.scenes import MAX_RELATIVES, add_object, clause
from core.corpus.grammar.sentence import Composition, English, German, Tree
from core.corpus.grammar.verbs import verb_group
from core.corpus.grammar.vocabulary import nouns, verbs_of

CONJUNCTIONS = {"and": "und", "or": "oder", "but": "aber"}


def coordination(draft: Draft) -> tuple[Composition, ...]:
    build = draft.pick((_subjects, _objects, _adjectives, _verb_phrases, _taken_up, _clauses))
    return build(draft)


def conjunction(draft: Draft, word: str) -> tuple[English, German]:
    english = English(word, "conjunction")
    return english, German(CONJUNCTIONS[word], english)


def joined(draft: Draft, first: Phrase, second: Phrase, word: str) -> Phrase:
    """Two noun phrases as one, a plural after "and"."""
    english, german = conjunction(draft, word)
    draft.link(DependencyKind.COORDINATION, second.head, first.head)
    draft.link(DependencyKind.COORDINATION, second.german_head, first.german_head)
    return Phrase(
        Tree("NP", first.tree, english, second.tree),
        [*first.german, german, *second.german],
        first.head,
        first.german_head,
        Number.PLURAL,
    )


def _subjects(draft: Draft) -> tuple[Composition, ...]:
    """Anna and the doctor sleep: schlafen."""
    tense = random_tense(draft)
    verb = draft.pick(VERBS)
    first, second = (_definite_subject(draft, verb) for _ in range(2))
    subject = joined(draft, first, second, "and")
    return compose(clause(draft, verb, tense=tense, subject=subject, bare=True), draft)


def _definite_subject(draft: Draft, verb: Verb) -> Phrase:
    if SemanticClass.PERSON in verb.subjects and draft.chance(0.3):
        return random_name(draft)
    noun = random_noun(draft, verb.subjects)
    return random_noun_phrase(draft, noun, Case.NOMINATIVE, definite=True, plain=True)


def _objects(draft: Draft) -> tuple[Composition, ...]:
    """He bought the house and the garden."""
    tense = random_tense(draft)
    verb = draft.pick(verbs_of(SemanticClass.PERSON, Frame.TRANSITIVE))
    subject = random_person(draft)
    group = verb_group(draft, verb.english, verb.german, tense=tense, number=subject.number)
    result = Clause(draft, subject, group)
    noun = random_noun(draft, verb.objects)
    other = draft.noun(nouns(noun.semantic))
    first, second = (
        random_noun_phrase(draft, entry, Case.ACCUSATIVE, plain=True) for entry in (noun, other)
    )
    add_object(draft, result, verb, joined(draft, first, second, draft.pick(("and", "or"))))
    return compose(result, draft)


def _adjectives(draft: Draft) -> tuple[Composition, ...]:
    """the old but strong horse"""
    tense = random_tense(draft)
    verb = draft.pick(VERBS)
    noun = random_noun(draft, verb.subjects)
    first, second = draft.adjective(noun), draft.adjective(noun)
    if first is second:
        return ()
    number = Number.PLURAL if noun.countable and draft.chance(0.25) else Number.SINGULAR
    subject = noun_phrase(
        draft,
        noun,
        Case.NOMINATIVE,
        number=number,
        adjectives=(first, second),
        conjunction=draft.pick((("and", "und"), ("and", "und"), ("but", "aber"))),
    )
    return compose(clause(draft, verb, tense=tense, subject=subject), draft)


def _verb_phrases(draft: Draft) -> tuple[Composition, ...]:
    """The woman opened the letter and called the doctor."""
    tense = draft.pick((Tense.PAST, Tense.PRESENT))
    draft.tense = tense
    verb = draft.pick(verbs_of(SemanticClass.PERSON, Frame.TRANSITIVE, Frame.INTRANSITIVE))
    other = draft.pick(verbs_of(SemanticClass.PERSON, Frame.TRANSITIVE, Frame.INTRANSITIVE))
    if other is verb:
        return ()
    subject = random_person(draft)
    first = clause(draft, verb, tense=tense, subject=subject, depth=MAX_RELATIVES, bare=True)
    second = clause(draft, other, tense=tense, subject=subject, depth=MAX_RELATIVES, bare=True)
    return _same_subject(draft, first, second)


def _same_subject(draft: Draft, first: Clause, second: Clause) -> tuple[Composition, ...]:
    english, german = conjunction(draft, "and")
    draft.link(DependencyKind.COORDINATION, second.verb.main, first.verb.main)
    draft.link(DependencyKind.COORDINATION, second.verb.finite, first.verb.finite)
    tree = Tree(
        "S",
        first.subject.tree,
        Tree("VP", first.english_verb_phrase(), english, second.english_verb_phrase()),
    )
    return (Composition(tree, [*first.second(), german, *second.without_subject()], draft.links),)


def _taken_up(draft: Draft) -> tuple[Composition, ...]:
    """The woman bought the car and repaired it: ihn, sie or es by the gender of the car."""
    tense = draft.pick((Tense.PAST, Tense.PRESENT))
    draft.tense = tense
    verb, other = (draft.pick(verbs_of(SemanticClass.PERSON, Frame.TRANSITIVE)) for _ in range(2))
    classes = verb.objects & other.objects - {SemanticClass.PERSON}
    if verb is other or not classes:
        return ()
    subject = random_person(draft)
    noun = random_noun(draft, frozenset(classes))
    number = Number.PLURAL if noun.countable and draft.chance(0.25) else Number.SINGULAR
    thing = random_noun_phrase(
        draft, noun, Case.ACCUSATIVE, number=number, definite=True, plain=True
    )
    clauses = []
    pronoun = "they" if number is Number.PLURAL else "it"
    it = pronoun_phrase(pronoun, Case.ACCUSATIVE, noun.gender)
    for entry, target in ((verb, thing), (other, it)):
        group = verb_group(draft, entry.english, entry.german, tense=tense, number=subject.number)
        part = Clause(draft, subject, group)
        add_object(draft, part, entry, target)
        clauses.append(part)
    draft.link(DependencyKind.COREFERENCE, it.head, thing.head)
    draft.link(DependencyKind.COREFERENCE, it.german_head, thing.german_head)
    return _same_subject(draft, *clauses)


def _clauses(draft: Draft) -> tuple[Composition, ...]:
    """The dog slept and the cat ate; but, aber after a comma."""
    tense = random_tense(draft)
    word = draft.pick(("and", "but"))
    english, german = conjunction(draft, word)
    first = clause(draft, draft.pick(VERBS), tense=tense, depth=MAX_RELATIVES, bare=True)
    second = clause(draft, draft.pick(VERBS), tense=tense, depth=MAX_RELATIVES, bare=True)
    draft.link(DependencyKind.COORDINATION, second.verb.main, first.verb.main)
    draft.link(DependencyKind.COORDINATION, second.verb.finite, first.verb.finite)
    commas = word == "but"
    tree = Tree(
        "S", first.english(), *([english_comma()] if commas else []), english, second.english()
    )
    between = [comma()] if commas else []
    return (Composition(tree, [*first.second(), *between, german, *second.second()], draft.links),)
