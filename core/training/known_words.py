"""The words that a model has seen, for telling a user which ones it has not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.text.words import words_in

KNOWN_WORDS = 50_000
_MOST_COUNTED = 20 * KNOWN_WORDS


class KnownWords:
    """The most frequent words of the texts that are added, in bounded memory.

    With more than a million different words the rarest so far are forgotten, which lets the
    counts, and the list, be inexact at its rare end.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, texts: Iterable[str]) -> None:
        self._counts.update(words_in("\n".join(texts)))
        if len(self._counts) > _MOST_COUNTED:
            self._counts = Counter(dict(self._counts.most_common(_MOST_COUNTED // 4)))

    def words(self) -> list[str]:
        """Return at most ``KNOWN_WORDS`` words in lower case, sorted."""
        return sorted(word for word, _ in self._counts.most_common(KNOWN_WORDS))
