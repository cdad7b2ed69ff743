"""Two sequences on one axis: what they share lies side by side, the rest has gaps beside it.

Shapes: N and M the lengths of the two sequences, L of their common axis.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.intp]

GAP = -1


@dataclass(frozen=True, slots=True)
class Alignment:
    """An index into each sequence for every place of the common axis, [L], or `GAP`.

    Both ascend, every index occurs once, and no place is a gap on both sides.
    """

    first: Indices
    second: Indices

    def __len__(self) -> int:
        return len(self.first)

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Whether both sequences have something at each place, [L]."""
        in_both: NDArray[np.bool_] = (self.first != GAP) & (self.second != GAP)
        return in_both


def align(first: Sequence[Hashable], second: Sequence[Hashable]) -> Alignment:
    """Align by a longest common subsequence; time and memory O(N · M).

    Between two common elements, what was replaced by as many others stands opposite them one by
    one; of runs that differ in length, that of the first sequence comes first.
    """
    numbers: dict[Hashable, int] = {}
    a, b = (
        np.array([numbers.setdefault(one, len(numbers)) for one in side], dtype=np.intp)
        for side in (first, second)
    )
    places: list[tuple[int, int]] = []
    i = j = 0
    for next_i, next_j in (*_common(a, b), (len(a), len(b))):
        if next_i - i == next_j - j:
            places += zip(range(i, next_i), range(j, next_j), strict=True)
        else:
            places += ((index, GAP) for index in range(i, next_i))
            places += ((GAP, index) for index in range(j, next_j))
        if next_i < len(a):
            places.append((next_i, next_j))
        i, j = next_i + 1, next_j + 1
    pairs = np.array(places, dtype=np.intp).reshape(-1, 2)  # [L, 2]
    return Alignment(pairs[:, 0], pairs[:, 1])


def _common(a: Indices, b: Indices) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence: the common beginning and end, and between
    them the earliest."""
    shorter = min(len(a), len(b))
    head = _agreeing(a[:shorter], b[:shorter])
    tail = _agreeing(a[::-1][: shorter - head], b[::-1][: shorter - head])
    lengths = _suffix_lengths(a[head : len(a) - tail], b[head : len(b) - tail])
    found = [(index, index) for index in range(head)]
    i = j = 0
    while lengths[i, j]:
        if a[head + i] == b[head + j]:
            found.append((head + i, head + j))
            i, j = i + 1, j + 1
        elif lengths[i + 1, j] >= lengths[i, j + 1]:
            i += 1
        else:
            j += 1
    return found + [(len(a) - index, len(b) - index) for index in range(tail, 0, -1)]


def _agreeing(a: Indices, b: Indices) -> int:
    """How many elements agree before the first that does not."""
    differing = np.flatnonzero(a != b)
    return int(differing[0]) if len(differing) else len(a)


def _suffix_lengths(a: Indices, b: Indices) -> NDArray[np.uint16]:
    """[N + 1, M + 1], the length of the longest common subsequence of a[i:] and b[j:].

    A row follows from the next one in whole-row operations: the best of skipping a[i] or taking
    it, then the running maximum from the right for skipping elements of b.
    """
    lengths = np.zeros((len(a) + 1, len(b) + 1), dtype=np.uint16)
    for i in range(len(a) - 1, -1, -1):
        below = lengths[i + 1]
        best = np.maximum(below[:-1], below[1:] + (b == a[i]))
        lengths[i, :-1] = np.maximum.accumulate(best[::-1])[::-1]
    return lengths
