"""Which links of an attention map are worth drawing.

Shapes: Q queries, K keys, N links.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.trace.heaviest import heaviest
from core.trace.trace import Booleans, Floats

MOST_LINKS = 100_000
"""Of more than this only the heaviest are kept."""

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
    """Return which links belong to a cell, [N]; to a query alone belong all of its links, and so
    for a key."""
    found = np.ones(len(links), np.bool_)
    if query is not None:
        found &= links.query == query
    if key is not None:
        found &= links.key == key
    return found
