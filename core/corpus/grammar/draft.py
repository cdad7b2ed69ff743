"""A sentence in the making: its random choices, its gold links, the held-out rule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import TypeVar
from zlib import crc32

from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.entries import Adjective, Noun, SemanticClass, Tense, Verb
from core.corpus.grammar.lexicon import ADJECTIVES
from core.corpus.grammar.sentence import English, German, Link

TRAIN = "train"
TEST = "test"
SPLITS = (TRAIN, TEST)

ALWAYS_HELD_OUT = frozenset({("animal", "street")})

T = TypeVar("T")
W = TypeVar("W", English, German)


def held_out(first: str, second: str) -> bool:
    """Whether the combination of two English words (base forms) is kept for the test split.

    One combination in ten, by checksum: noun and adjective, or in alphabetical order the two
    nouns that "it" could mean.
    """
    if (first, second) in ALWAYS_HELD_OUT:
        return True
    return crc32(f"{first} {second}".encode()) % 10 == 0


def nouns_held_out(first: Noun, second: Noun) -> bool:
    return held_out(*sorted((first.english, second.english)))


@cache
def adjectives_of(
    noun: str, semantic: SemanticClass, held: bool, wide: bool
) -> tuple[Adjective, ...]:
    """The adjectives that go with ``noun``, held out in combination with it or not."""
    return tuple(
        adjective
        for adjective in ADJECTIVES
        if semantic in adjective.classes
        and held_out(noun, adjective.english) == held
        and (wide or not adjective.wide)
    )


class Draft:
    """The choices for one sentence, made with ``random``, and the links found on the way.

    In the train split no held-out combination can be chosen. ``held`` tells whether one was: a
    test sentence needs it. ``tense`` is that of subordinate clauses, ``used`` the nouns so far.
    Wide entries of the lexicon can be chosen only if ``wide``.
    """

    __slots__ = ("_adjectives", "held", "links", "random", "split", "tense", "used", "wide")

    def __init__(self, random: Random, split: str, *, wide: bool = False) -> None:
        self.random = random
        self.split = split
        self.wide = wide
        self.links: list[Link] = []
        self.held = False
        self.tense = Tense.PAST
        self.used: list[Noun] = []
        self._adjectives: list[Adjective] = []

    def fork(self) -> Draft:
        """A draft that continues from here on its own."""
        fork = Draft(self.random, self.split, wide=self.wide)
        fork.links = list(self.links)
        fork.held = self.held
        fork.tense = self.tense
        fork.used = list(self.used)
        fork._adjectives = list(self._adjectives)
        return fork

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, choices: Sequence[T]) -> T:
        if not self.wide and isinstance(choices[0], Noun | Verb | Adjective):
            choices = [entry for entry in choices if not entry.wide]  # type: ignore[attr-defined]
        return choices[int(self.random.random() * len(choices))]

    def noun(self, choices: Sequence[Noun]) -> Noun:
        """One of ``choices`` that the sentence does not have yet, if a few tries find one."""
        noun = self.pick(choices)
        for _ in range(4):
            if noun not in self.used:
                break
            noun = self.pick(choices)
        self.used.append(noun)
        return noun

    def adjective(self, noun: Noun) -> Adjective:
        """An adjective that goes with ``noun``."""
        free = adjectives_of(noun.english, noun.semantic, False, self.wide)
        choices = free
        if self.split == TEST and self.chance(0.8):
            choices = adjectives_of(noun.english, noun.semantic, True, self.wide) or free
        adjective = self.pick(choices)
        for _ in range(4):
            if adjective not in self._adjectives:
                break
            adjective = self.pick(free)
        self._adjectives.append(adjective)
        self.combine(noun, adjective)
        return adjective

    def may_combine(self, noun: Noun, adjective: Adjective) -> bool:
        """Whether the split allows the combination; ``combine`` notes that it was chosen."""
        return self.split == TEST or not held_out(noun.english, adjective.english)

    def combine(self, noun: Noun, adjective: Adjective) -> None:
        if held_out(noun.english, adjective.english):
            self.held = True

    def link(self, kind: DependencyKind, start: W, end: W) -> None:
        self.links.append((kind, start, end))
