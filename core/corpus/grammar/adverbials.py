"""Adverbs and adverbial phrases: when, where, where to, how."""

from __future__ import annotations

from core.corpus.grammar.circumstances import AT_HOME, HERE, company, key, manners, routes, sites
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import (
    Adverb,
    Case,
    Preposition,
    SemanticClass,
    Tense,
    Verb,
)
from core.corpus.grammar.nouns import random_noun, random_noun_phrase
from core.corpus.grammar.phrases import prepositional
from core.corpus.grammar.sentence import English, German, Tree
from core.corpus.grammar.vocabulary import PERSON, adverb, adverbs

MID_SENTENCE = ("already", "recently", "finally", "soon", "immediately", "then")
"""Time adverbs that English puts before the main verb."""

POINTS_IN_TIME = (
    *("yesterday", "today", "tomorrow", "last week", "last year", "last night", "next week"),
    *("next year", "this morning", "tonight", "on Monday", "on Friday"),
)


def adverb_words(entry: Adverb) -> tuple[Tree, list[German]]:
    """The adverb in both languages; word by word where their numbers agree."""
    english = [English(text, "adverb") for text in entry.english.split(" ")]
    parts = entry.german.split(" ")
    if len(parts) == len(english):
        german = [German(part, word) for part, word in zip(parts, english, strict=True)]
    else:
        german = [German(part, *english) for part in parts]
    return Tree("ADVP", *english), german


def add_time(draft: Draft, result: Clause, tense: Tense, *, negated: bool = False) -> None:
    """An adverb of time; a negated clause takes a point in time or none."""
    entry = draft.pick(adverbs("time", tense))
    if negated and entry.english not in POINTS_IN_TIME:
        return
    tree, german = adverb_words(entry)
    if entry.english in MID_SENTENCE:
        result.add_mid_adverb(tree, german)
    else:
        result.add_adverb(tree, german)


def add_adverbs(
    draft: Draft, result: Clause, verb: Verb, tense: Tense, *, negated: bool = False
) -> None:
    """Sometimes add an adverb of manner, another one, and an adverb of time or frequency."""
    roll = draft.random.random()
    if roll < 0.1 and not negated:
        result.add_mid_adverb(*adverb_words(draft.pick(adverbs("frequency", tense))))
        return
    if result.ends_in_relative:  # what follows would seem to belong to the relative clause
        return
    ways = manners(key(verb))
    if ways and draft.chance(0.25):
        result.add_manner(*adverb_words(draft.pick(ways)))
    others = company(key(verb))
    if others and not negated and draft.chance(0.12):
        phrase = preposition_with_object(draft, draft.pick(others), Case.DATIVE, PERSON)
        result.add_adjunct(*phrase)
    if roll > 0.85:
        add_time(draft, result, tense, negated=negated)


def preposition_with_object(
    draft: Draft,
    entry: Preposition,
    case: Case,
    classes: frozenset[SemanticClass] | None = None,
) -> tuple[Tree, list[German]]:
    """The phrase of ``entry`` with a noun of ``classes``; ``case`` is for two-way prepositions."""
    noun = random_noun(draft, entry.objects if classes is None else entry.objects & classes)
    phrase = random_noun_phrase(draft, noun, entry.case or case, definite=True, plain=True)
    return prepositional(entry.english, entry.german, phrase)


def add_place(draft: Draft, result: Clause, verb: Verb) -> None:
    """Add a place: an adverb, or a preposition with the dative."""
    base = verb.english.base
    if draft.chance(0.2):
        words = AT_HOME if base in ("live", "stay") else HERE
        result.add_complement(*adverb_words(adverb(draft.pick(words))), [])
    else:
        _add_two_way(draft, result, Case.DATIVE, *draft.pick(sites(base)))


def add_direction(draft: Draft, result: Clause, verb: Verb) -> None:
    """Add a direction: a preposition with the accusative, if it leaves a choice."""
    _add_two_way(draft, result, Case.ACCUSATIVE, *draft.pick(routes(verb.english.base)))


def _add_two_way(
    draft: Draft,
    result: Clause,
    case: Case,
    entry: Preposition,
    classes: frozenset[SemanticClass],
) -> None:
    tree, german = preposition_with_object(draft, entry, case, classes)
    result.add_complement(tree, german, [])
    if entry.case is None:
        english = tree.children[0]
        assert isinstance(english, English)
        draft.link(DependencyKind.TWO_WAY, english, result.verb.main)
        draft.link(DependencyKind.TWO_WAY, german[0], result.verb.german_main)
