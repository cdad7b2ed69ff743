"""How often a model saw a word in training, as far as its file says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.text.words import find_words

OFTEN = 20
"""Of a word that was seen fewer times than this in training, the translation is a guess."""

MOST_LISTED = 50_000
"""A file lists at most this many words, the most frequent ones."""


class UnsureWord(NamedTuple):
    """A word of a text that was seen fewer than ``OFTEN`` times; ``start`` and ``end`` are its
    [start, end) characters."""

    word: str
    start: int
    end: int
    times: int


@dataclass(frozen=True, slots=True)
class SeenWords:
    """The source words of a training text, in lower case.

    Attributes:
        known: every word that is listed.
        rare: how often each of them occurs that occurs fewer than ``OFTEN`` times; empty if the
            file comes from a version that did not count.
    """

    known: frozenset[str]
    rare: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_model(cls, provenance: Mapping[str, Any]) -> SeenWords | None:
        """Read what a checked provenance says; None if it lists no words."""
        known = provenance.get("known_words")
        if not known:
            return None
        counts = provenance.get("rare_words", {})
        rare = {word: int(times) for times, words in counts.items() for word in words.split()}
        return cls(frozenset(known), rare)

    def to_provenance(self) -> dict[str, Any]:
        """Return ``known_words``, a sorted list, and ``rare_words``, which has all words of one
        count in one text, so that the counts take no more than a byte a word."""
        by_count: dict[int, list[str]] = defaultdict(list)
        for word, times in sorted(self.rare.items()):
            by_count[times].append(word)
        return {
            "known_words": sorted(self.known),
            "rare_words": {str(times): " ".join(by_count[times]) for times in sorted(by_count)},
        }

    @property
    def is_complete(self) -> bool:
        """Return whether a word that is not listed was never seen, and not just left out as too
        rare."""
        return len(self.known) < MOST_LISTED

    def unsure(self, text: str) -> Iterator[UnsureWord]:
        """Yield the words of a text that were never or rarely seen, in order."""
        for word, start, end in find_words(text):
            if word not in self.known:
                yield UnsureWord(word, start, end, 0)
            elif word in self.rare:
                yield UnsureWord(word, start, end, self.rare[word])
