"""Which links of an attention map are worth drawing.

Shapes: Q queries, K keys, N links.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.trace.trace import Booleans, Floats

MOST_LINKS = 100_000
"""Of more than this only the heaviest are kept."""

_TOLERANCE = 1e-6  # of a row's weight: what float32 sums may miss a share by
_ROWS = 256  # sorted at once, so that the map of a long text costs no second map of integers

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Links in the order in which they are painted: lightest first.

    Attributes:
        series, query, key: [N], which of the maps, and the ends of each link.
        weight: [N].
        possible: how many the masks of all maps allow.
    """

    series: Indices
    query: Indices
    key: Indices
    weight: Floats
    possible: int

    def __len__(self) -> int:
        return len(self.weight)


_NONE = np.zeros(0, np.intp)
NO_LINKS = Links(_NONE, _NONE, _NONE, np.zeros(0, np.float32), 0)


def heaviest(weights: Floats, share: float) -> Booleans:
    """For each row of [..., K] the smallest set of its heaviest keys whose weights add up to
    `share` (0 … 1) of the row's sum. Of equal weights the one of the lower index goes first; a
    weight of 0 is never in it."""
    order = np.argsort(-weights, axis=-1, kind="stable")
    descending = np.take_along_axis(weights, order, axis=-1).astype(np.float64)
    reached = np.cumsum(descending, axis=-1)
    needed = descending > 0
    enough = share * (1 - _TOLERANCE) * reached[..., -1:]
    needed[..., 1:] &= reached[..., :-1] < enough
    needed &= share > 0
    chosen = np.empty_like(needed)
    np.put_along_axis(chosen, order, needed, axis=-1)
    return chosen


def choose_links(
    weights: Floats,
    allowed: Booleans,
    *,
    share: float,
    threshold: float = 0.0,
    distance: int = 0,
    series: int = 0,
) -> Links:
    """The links of one map [Q, K]: each query's `heaviest` up to `share` that are allowed, weigh
    `threshold` or more and reach over `distance` tokens or more (|i - j|, self-attention only)."""
    chosen = np.empty(weights.shape, np.bool_)
    for start in range(0, len(weights), _ROWS):
        block = slice(start, start + _ROWS)
        part = np.where(allowed[block], weights[block], np.float32(0))
        chosen[block] = heaviest(part, share) & (part >= threshold)
    query, key = np.nonzero(chosen)
    far = np.abs(query - key) >= distance
    query, key = query[far], key[far]
    links = Links(np.full(len(query), series), query, key, weights[query, key], int(allowed.sum()))
    return merged([links])


def merged(parts: Sequence[Links]) -> Links:
    """The links of several maps in one order."""
    series, query, key, weight = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("series", "query", "key", "weight")
    )
    order = np.argsort(weight, kind="stable")[-MOST_LINKS:]
    possible = sum(part.possible for part in parts)
    return Links(series[order], query[order], key[order], weight[order], possible)


def touching(links: Links, query: int | None, key: int | None) -> Booleans:
    """[N], True for the links of a cell; of a query alone all of its links, and so for a key."""
    found = np.ones(len(links), np.bool_)
    if query is not None:
        found &= links.query == query
    if key is not None:
        found &= links.key == key
    return found
