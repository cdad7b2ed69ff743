"""Which sentences of a corpus are kept apart for validation, chosen while it streams by."""

from __future__ import annotations

from bisect import insort
from zlib import crc32

Pair = tuple[str, str]

LARGEST_SHARE = 10  # at most one source in so many


class HeldOut:
    """Holds out up to ``wanted`` of the different sources that are offered, with all their targets.

    Which sources follows from their text alone: those with the smallest checksums, wherever they
    stand and however often. Memory is that of 10 × ``wanted`` sources.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._seen: set[str] = set()  # until there are enough, so that a tenth of them is known
        self._smallest: list[tuple[int, str]] = []  # ascending
        self._targets: dict[str, dict[str, int]] = {}  # for each of those, where each target was
        self._offered = 0

    def offer(self, source: str, target: str) -> None:
        self._offered += 1
        if len(self._seen) < LARGEST_SHARE * self._wanted:
            self._seen.add(source)
        if source not in self._targets and not self._take(source):
            return
        self._targets[source].setdefault(target, self._offered)

    def pairs(self) -> list[Pair]:
        """Return the different pairs of the chosen sources, in the order in which they were
        offered."""
        chosen = self._smallest[: len(self._seen) // LARGEST_SHARE]
        places = {
            (source, target): place
            for _, source in chosen
            for target, place in self._targets[source].items()
        }
        return sorted(places, key=places.__getitem__)

    def _take(self, source: str) -> bool:
        """Whether this new source belongs to the smallest so far."""
        key = (crc32(source.encode()), source)
        if len(self._smallest) == self._wanted:
            if key > self._smallest[-1]:
                return False
            _, largest = self._smallest.pop()
            del self._targets[largest]
        insort(self._smallest, key)
        self._targets[source] = {}
        return True
