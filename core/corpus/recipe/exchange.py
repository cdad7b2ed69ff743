"""Names exchanged for others of their kind, on both sides of a pair alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from random import Random

from core.fields import require, require_share

Word = tuple[str, str]
"""A word in English and in German."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A set of words of which any may replace any other: given names of one gender, cities,
    weekdays.

    Each is written as "Tom", or as "Cologne=Köln" where the two languages differ.

    Attributes:
        words: those to be exchanged.
        by: those that take their place.
        keep: the share of pairs in which a word stays.
    """

    words: tuple[str, ...]
    by: tuple[str, ...]
    keep: float = 0.0

    def __post_init__(self) -> None:
        require(len(self.words) > 0, "words", self.words, "one or more")
        require(len(self.by) > 0, "by", self.by, "one or more")
        require_share("keep", self.keep)

    def apply(self, source: str, target: str, random: Random) -> tuple[str, str]:
        """The pair with each of ``words`` that it has on both sides replaced by another one.

        Genitives go along: "Tom's" and "Toms", "Max's" and "Max'". A word that stands on one side
        only is left alone, and no two words become the same.
        """
        found = [
            word
            for word in self._words
            if self._english[word].search(source) and self._german[word].search(target)
        ]
        if not found or random.random() < self.keep:
            return source, target
        free = [
            word
            for word in self._by
            if not re.search(rf"\b{re.escape(word[0])}\b", source) and word not in found
        ]
        for word, new in zip(found, random.sample(free, min(len(found), len(free))), strict=False):
            source = self._english[word].sub(new[0], source)
            target = _replaced(self._german[word], new[1], target)
        return source, target

    def masked(self, source: str) -> str:
        """Return ``source`` with all words of the exchange alike, so that sentences that differ
        only in them are recognised as the same."""
        return self._any.sub("@", source)

    @cached_property
    def _words(self) -> tuple[Word, ...]:
        return tuple(map(_word, self.words))

    @cached_property
    def _by(self) -> tuple[Word, ...]:
        return tuple(map(_word, self.by))

    @cached_property
    def _english(self) -> dict[Word, re.Pattern[str]]:
        return {word: re.compile(rf"\b{re.escape(word[0])}\b") for word in self._words}

    @cached_property
    def _german(self) -> dict[Word, re.Pattern[str]]:
        return {
            word: re.compile(rf"\b{re.escape(word[1])}(?P<genitive>{_genitive(word[1])}?)(?!\w)")
            for word in self._words
        }

    @cached_property
    def _any(self) -> re.Pattern[str]:
        english = {word[0] for word in (*self._words, *self._by)}
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(english)))})\b")


def _word(text: str) -> Word:
    english, _, german = text.partition("=")
    return english, german or english


def _replaced(pattern: re.Pattern[str], name: str, text: str) -> str:
    """``text`` with ``name`` for what the pattern finds, in the genitive where that is in it."""
    return pattern.sub(
        lambda match: name + _genitive(name) if match["genitive"] else name,
        text,
    )


def _genitive(name: str) -> str:
    return "'" if name[-1] in "sxzß" else "s"
