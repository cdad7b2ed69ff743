"""Adverbs and adverbial phrases: when, where, where to, how."""

from __future__ import annotations

from functools import cache

from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import (
    Adverb,
    Case,
    Preposition,
    Tense,
    Verb,
)
from core.corpus.grammar.nouns import random_noun, random_noun_phrase
from core.corpus.grammar.phrases import prepositional
from core.corpus.grammar.sentence import English, German, Tree
from core.corpus.grammar.vocabulary import adverb, adverbs, prepositions

MID_SENTENCE = ("already", "recently", "finally", "soon", "immediately", "then")
"""Time adverbs that English puts before the main verb."""

MANNERS = {
    "quickly": (
        "cross enter leave open close lock clean wash eat drink repair write sign translate hide "
        "paint run climb drive crawl return jump wake-up tidy-up pick-up take-off reply disappear"
    ),
    "slowly": (
        "cross enter leave open close eat drink climb drive crawl return go pull push turn grow "
        "burn take-off get-up fall-asleep dance"
    ),
    "quietly": "enter leave open close sing cry laugh speak-to sit crawl",
    "loudly": "sing cry laugh complain-about laugh-at snore",
    "carefully": (
        "cross enter open close lock clean wash repair examine test feed translate climb drive "
        "pull push tidy-up examine"
    ),
    "suddenly": (
        "leave open disappear stop arrive explode fall collapse die fall-asleep come-back run-away"
    ),
    "secretly": "leave enter open sell buy steal watch follow meet hide visit love admire",
    "patiently": "wait-for listen-to explain repair feed work-on",
    "politely": "reply-to thank greet invite congratulate contradict ask-about",
    "alone": "live sit sleep travel work dance eat",
    "hastily": "leave eat drink sign open run",
    "calmly": "reply-to sleep wait-for explain breathe",
    "nervously": "laugh smile wait-for tremble",
    "bravely": "fight-against protect save follow",
    "easily": "cross reach open find lift push pull understand",
}
"""The verbs that each manner adverb suits, in base form with their particle or preposition."""

@cache
def _manners(key: str) -> tuple[Adverb, ...]:
    return tuple(adverb(manner) for manner, verbs in MANNERS.items() if key in verbs.split())


def _key(verb: Verb) -> str:
    english = verb.english
    return "-".join(filter(None, (english.base, english.particle, english.preposition)))


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
    """An adverb of time; a negated clause takes none that belongs before its verb."""
    entry = draft.pick(adverbs("time", tense))
    tree, german = adverb_words(entry)
    if entry.english not in MID_SENTENCE:
        result.add_adverb(tree, german)
    elif not negated:
        result.add_mid_adverb(tree, german)


def add_adverbs(
    draft: Draft, result: Clause, verb: Verb, tense: Tense, *, negated: bool = False
) -> None:
    """At times an adverb of manner and one of time or frequency."""
    manners = _manners(_key(verb))
    if manners and draft.chance(0.25):
        result.add_manner(*adverb_words(draft.pick(manners)))
    roll = draft.random.random()
    if roll < 0.12:
        add_time(draft, result, tense, negated=negated)
    elif roll < 0.22 and not negated:
        result.add_mid_adverb(*adverb_words(draft.pick(adverbs("frequency", tense))))


def place_phrase(draft: Draft) -> tuple[Tree, list[German]]:
    """A place in the dative: "in the garden", "behind the house"."""
    entry = draft.pick(prepositions("place", two_way=True))
    return preposition_with_object(draft, entry, Case.DATIVE)


def preposition_with_object(
    draft: Draft, entry: Preposition, case: Case
) -> tuple[Tree, list[German]]:
    noun = random_noun(draft, entry.objects)
    phrase = random_noun_phrase(draft, noun, entry.case or case, definite=True, plain=True)
    return prepositional(entry.english, entry.german, phrase)


def add_place(draft: Draft, result: Clause, entry: Preposition | None = None) -> None:
    _add_two_way(draft, result, "place", Case.DATIVE, entry)


def add_direction(draft: Draft, result: Clause, entry: Preposition | None = None) -> None:
    _add_two_way(draft, result, "direction", Case.ACCUSATIVE, entry)


def _add_two_way(
    draft: Draft, result: Clause, relation: str, case: Case, entry: Preposition | None
) -> None:
    if entry is None:
        entry = draft.pick(prepositions(relation, two_way=True))
    tree, german = preposition_with_object(draft, entry, case)
    result.add_complement(tree, german, [])
    if entry.case is None:
        english = tree.children[0]
        assert isinstance(english, English)
        draft.link(DependencyKind.TWO_WAY, english, result.verb.main)
        draft.link(DependencyKind.TWO_WAY, german[0], result.verb.german_main)
