"""How far the heads of one text look: their weight by distance, and the heaviest far links.

Distance is |i − j| between query i and key j, in tokens, so of self-attention only.
Legend: Q queries, K keys, n tokens; A[i, j] is the weight of query i on key j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from core.text.tokens import TokenKind
from core.trace.sinks import Sink, may_be_sinks, sinks_of
from core.trace.trace import Booleans, Floats, Head, Trace

_ROWS = 256  # looked through at once, so that a long text costs no second map

Shares: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DistanceProfile:
    """How a head's weight falls over distances, as the mean over its queries; formulas in
    docs/formulas.md.

    Attributes:
        shares: [n], weight at distance 0 … n − 1; with `special` they add up to 1.
        special: weight on special tokens that are left out.
    """

    shares: Shares
    special: float

    @property
    def mean(self) -> float:
        """The mean distance Σ_d d · shares[d] / Σ_d shares[d], in tokens; 0 where no weight is
        left."""
        total = float(self.shares.sum())
        return float(self.shares @ np.arange(len(self.shares))) / total if total else 0.0

    def beyond(self, distance: int) -> float:
        """The weight at this distance or farther."""
        return float(self.shares[distance:].sum())


@dataclass(frozen=True, slots=True)
class FarLink:
    head: Head
    query: int
    key: int
    weight: float

    @property
    def distance(self) -> int:
        return abs(self.query - self.key)


@dataclass(frozen=True, slots=True, eq=False)
class Heaviest:
    """The heaviest links of each distance, so that those over any distance are at hand.

    Attributes:
        heads: that were looked at.
        count: the most links that are kept of each distance.
        ends: [3, N], the number of the head, query and key, in the order in which they were found.
        weights: [N].
    """

    heads: Sequence[Head]
    count: int
    ends: NDArray[np.intp]
    weights: Floats

    def over(self, distance: int) -> tuple[FarLink, ...]:
        """The `count` heaviest links of this distance or more, heaviest first; of equal ones the
        one found first."""
        _, query, key = self.ends
        far = np.flatnonzero(np.abs(query - key) >= distance)
        if len(far) > self.count:  # of a long text: sorting them all takes milliseconds
            weights = self.weights[far]
            far = far[weights >= np.partition(weights, -self.count)[-self.count]]
        chosen = far[np.argsort(-self.weights[far], kind="stable")[: self.count]]
        return tuple(
            FarLink(self.heads[number], query, key, weight)
            for number, query, key, weight in zip(
                *self.ends[:, chosen].tolist(), self.weights[chosen].tolist(), strict=True
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """How far heads reach, and their heaviest links by distance.

    Attributes:
        profiles: of each head looked at.
        even: of a head that spreads evenly over the keys that it may attend to.
        heaviest: links of all these heads together.
        sinks: of each head looked at.
    """

    profiles: dict[Head, DistanceProfile]
    even: DistanceProfile
    heaviest: Heaviest
    sinks: dict[Head, tuple[Sink, ...]]

    def is_to_sink(self, link: FarLink) -> bool:
        """Whether the key is a sink of the head."""
        return any(sink.key == link.key for sink in self.sinks.get(link.head, ()))


def reach(
    trace: Trace,
    heads: Sequence[Head],
    *,
    count: int = 40,
    specials: bool = True,
    sinks: bool = True,
) -> Iterator[Reach]:
    """What is known after each head, in a memory of one map however many heads there are.

    Args:
        heads: of one kind of self-attention.
        count: the most links that are kept of each distance.
        specials: whether special tokens count, as queries and as keys.
        sinks: whether links to a sink of their head count among the heaviest.
    """
    kind = heads[0].kind
    ordinary = np.array(
        [specials or token.kind is not TokenKind.SPECIAL for token in trace.query_tokens(kind)],
        np.bool_,
    )
    even = _even(trace.allowed(kind), ordinary)
    candidates = may_be_sinks(trace.key_tokens(kind), kind)
    profiles: dict[Head, DistanceProfile] = {}
    resting: dict[Head, tuple[Sink, ...]] = {}
    search = _Search(count, len(ordinary))
    for number, head in enumerate(heads):
        weights = trace.weights(*head)
        profiles[head] = distance_profile(weights, ordinary)
        resting[head] = sinks_of(weights, trace.allowed(kind), candidates)
        keys = ordinary.copy()
        if not sinks:
            keys[[sink.key for sink in resting[head]]] = False
        search.look_at(number, weights, ordinary, keys)
        heaviest = Heaviest(heads, count, search.ends, search.weights)
        yield Reach(dict(profiles), even, heaviest, dict(resting))


def distance_profile(weights: Floats, ordinary: Booleans) -> DistanceProfile:
    """Profile weights [n, n] whose rows add up to 1; `ordinary` [n] is False for what is left
    out."""
    n = len(weights)
    queries = np.flatnonzero(ordinary)
    signed = np.zeros(2 * n - 1)  # by j − i, from 1 − n on
    kept = ordinary.astype(np.float32)
    for query in queries.tolist():
        signed[n - 1 - query : 2 * n - 1 - query] += weights[query] * kept
    shares = signed[n - 1 :].copy()
    shares[1:] += signed[n - 2 :: -1]
    shares /= max(1, len(queries))
    special = max(0.0, 1.0 - float(shares.sum())) if len(queries) else 0.0
    return DistanceProfile(shares, special)


def _even(allowed: Booleans, ordinary: Booleans) -> DistanceProfile:
    """Of 1 / (number of allowed keys) on each of them, a row at a time."""
    n = len(allowed)
    shares = np.zeros(n)
    queries = np.flatnonzero(ordinary)
    for query in queries.tolist():
        keys = np.flatnonzero(allowed[query] & ordinary)
        shares += np.bincount(np.abs(keys - query), minlength=n) / allowed[query].sum()
    shares /= max(1, len(queries))
    special = max(0.0, 1.0 - float(shares.sum())) if len(queries) else 0.0
    return DistanceProfile(shares, special)


class _Search:
    """Finds the heaviest links of each distance in one map after another.

    Attributes:
        ends, weights: as those of `Heaviest`.
    """

    def __init__(self, count: int, n: int) -> None:
        self._count, self._n = count, n
        self._floors = np.zeros(n, np.float32)  # [n], what a link of each distance must outweigh
        self.ends = np.zeros((3, 0), np.intp)
        self.weights = np.zeros(0, np.float32)

    def look_at(self, number: int, weights: Floats, queries: Booleans, keys: Booleans) -> None:
        n = self._n
        for start in range(0, n, _ROWS):
            part = weights[start : start + _ROWS]
            by_offset = np.concatenate([self._floors[:0:-1], self._floors])  # by j − i, from 1 − n
            floors = sliding_window_view(by_offset, n)[::-1][start : start + len(part)]
            query, key = np.nonzero(part > floors)
            found = part[query, key]
            query += start
            wanted = queries[query] & keys[key]
            ends = np.stack([np.full(len(query), number), query, key])
            self._keep(ends[:, wanted], found[wanted])

    def _keep(self, ends: NDArray[np.intp], weights: Floats) -> None:
        ends = np.concatenate([self.ends, ends], axis=1)
        weights = np.concatenate([self.weights, weights])
        distances = np.abs(ends[1] - ends[2])
        order = np.lexsort((-weights, distances))
        counts = np.bincount(distances, minlength=self._n)
        firsts = np.cumsum(counts) - counts
        ranks = np.arange(len(order)) - firsts[distances[order]]
        kept = np.sort(order[ranks < self._count])
        self.ends, self.weights = ends[:, kept], weights[kept]
        full = np.flatnonzero(counts >= self._count)
        self._floors[full] = weights[order[firsts[full] + self._count - 1]]


def distance_bins(n: int) -> tuple[range, ...]:
    """Return distances 0 … n − 1 in bins of doubling width: 0, 1, 2, 3–4, 5–8, 9–16, …; the last
    one may reach beyond n."""
    bins = [range(0, 1)]
    while bins[-1].stop < n:
        start = bins[-1].stop
        bins.append(range(start, max(start + 1, 2 * (start - 1) + 1)))
    return tuple(bins)


def binned(shares: Shares, bins: Sequence[range]) -> Shares:
    """The weight in each bin; `shares` [n] of distances 0 … n − 1."""
    return np.array([shares[one.start : one.stop].sum() for one in bins])
