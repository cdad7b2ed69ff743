"""The statistics of one head on one text, with NumPy.

Legend: Q queries, K keys, R queries at a time; A[i, j] is the weight of query i on key j.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.statistics.registry import OF_MAPS
from core.trace.trace import (
    AttentionKind,
    Booleans,
    Floats,
    Head,
    Trace,
    row_blocks,
    without_repetition,
)

Values: TypeAlias = NDArray[np.floating[Any]]
_LEAST = np.float32(1e-38)  # 0 · log₂ of it is 0


@dataclass(frozen=True, eq=False)
class Rows:
    """Some consecutive rows of a map, and what several statistics compute from them.

    Attributes:
        weights: [R, K].
        first: the query of the first row.
        special: [K], which keys are special tokens.
    """

    weights: Values
    first: int
    special: Booleans

    @cached_property
    def entropy(self) -> Values:
        """−Σ_j A log₂ A in bits, [R]."""
        logarithms = np.maximum(self.weights, _LEAST)
        np.log2(logarithms, out=logarithms)
        summed: Values = -np.einsum("qk,qk->q", self.weights, logarithms)
        return np.maximum(summed, 0.0, out=summed)

    @property
    def largest_ordinary(self) -> Values:
        """The largest weight on a key that is not special, [R]; 0 if all keys are special."""
        largest = np.zeros(len(self.weights), self.weights.dtype)
        ends = [-1, *np.flatnonzero(self.special), self.weights.shape[1]]
        for before, after in pairwise(ends):  # slices, which copy nothing
            if after - before > 1:
                of_part = self.weights[:, before + 1 : after].max(axis=1)
                np.maximum(largest, of_part, out=largest)
        return largest

    @property
    def distance(self) -> Values:
        """Σ_j A |i − j| in tokens, [R]."""
        count, keys = self.weights.shape
        last = self.first + count - 1
        line = np.abs(np.arange(-last, keys - self.first, dtype=np.float64))
        distances = np.lib.stride_tricks.sliding_window_view(line, keys)[::-1]  # [R, K], a view
        summed: Values = np.einsum("qk,qk->q", self.weights, distances)
        return summed

    def at_offset(self, offset: int) -> Values:
        """Return A[i, i + offset], [R]; not a number where there is no such key."""
        found = np.full(len(self.weights), np.nan)
        keys = np.arange(len(found)) + self.first + offset
        inside = np.flatnonzero((keys >= 0) & (keys < self.weights.shape[1]))
        found[inside] = self.weights[inside, keys[inside]]
        return found


@dataclass(frozen=True, slots=True)
class HeadStatistics:
    """The statistics of a head on one text.

    Attributes:
        values: the statistics ``OF_MAPS`` by id, without those that this kind of attention does
            not have and those for which no query counts.
        entropy_limit: the mean log₂ of the number of keys that a query may attend to, in bits.
        sink_key: the key that receives the most weight.
    """

    values: Mapping[str, float]
    entropy_limit: float
    sink_key: int

    def __getitem__(self, id: str) -> float | None:
        """Return a statistic by its id, None if the head does not have it here."""
        return self.values.get(id)


def head_statistics(trace: Trace, kind: AttentionKind, layer: int, head: int) -> HeadStatistics:
    """Compute the statistics of one head of a trace."""
    special = np.array([token.kind == "special" for token in trace.key_tokens(kind)], np.bool_)
    return _statistics(trace.blocks(Head(kind, layer, head)), trace.allowed(kind), special, kind)


def map_statistics(
    weights: Floats, allowed: Booleans, special: Booleans, kind: AttentionKind
) -> HeadStatistics:
    """Compute statistics from weights [Q, K] whose rows add up to 1, allowed [Q, K] and special
    [K]."""
    return _statistics(row_blocks(weights), allowed, special, kind)


def _statistics(
    blocks: Iterable[Floats], allowed: Booleans, special: Booleans, kind: AttentionKind
) -> HeadStatistics:
    """``blocks``: the weights, some rows at a time, [R, K] each."""
    queries, keys = allowed.shape
    wanted = [one for one in OF_MAPS if kind in one.kinds]
    received = np.zeros(keys)
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    first = 0
    for weights in blocks:
        received += weights.sum(axis=0)
        rows = Rows(weights, first, special)
        for one in wanted:
            if one.rows is not None:
                values = one.rows(rows)
                known = ~np.isnan(values)
                sums[one.id] += float(values[known].sum(dtype=np.float64))
                counts[one.id] += int(known.sum())
        first += len(weights)
    received /= queries
    means = {id: sums[id] / count for id, count in counts.items() if count}
    of_keys = {one.id: one.keys(received) for one in wanted if one.keys is not None}
    found = means | of_keys
    choices = np.maximum(without_repetition(allowed).sum(axis=1), 1)
    return HeadStatistics(
        values={one.id: found[one.id] for one in wanted if one.id in found},
        entropy_limit=float(np.log2(choices).mean()),
        sink_key=int(received.argmax()),
    )
