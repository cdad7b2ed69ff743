"""The words that a model sees in training, counted to tell a user which ones it hardly knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.text.seen_words import MOST_LISTED, OFTEN, SeenWords
from core.text.words import words_in

_MOST_COUNTED = 20 * MOST_LISTED


class KnownWords:
    """The most frequent words of the texts that are added, in bounded memory.

    With more than a million different words the rarest so far are forgotten, which lets the
    counts, and the list, be inexact at its rare end.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, texts: Iterable[str], times: int = 1) -> None:
        """Count the words of the texts, each of which stands for ``times`` such texts."""
        found = Counter(words_in("\n".join(texts)))
        for word, count in found.items():
            self._counts[word] += times * count
        if len(self._counts) > _MOST_COUNTED:
            self._counts = Counter(dict(self._counts.most_common(_MOST_COUNTED // 4)))

    def seen(self) -> SeenWords:
        """Return at most ``MOST_LISTED`` words, with the counts of the rare ones."""
        listed = self._counts.most_common(MOST_LISTED)
        rare = {word: count for word, count in listed if count < OFTEN}
        return SeenWords(frozenset(word for word, _ in listed), rare)
