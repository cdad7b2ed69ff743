"""The largest weight of each block of a large map, without the map: what a thumbnail shows.

Legend: Q queries, K keys, R queries at a time, B blocks of keys, d_k width of a head.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from core.trace.trace import ComputedAttention, Floats, Head, Trace

_QUERIES = 128  # so many columns of scores stay in a core's cache
_SAFE = 60.0  # exp of so much, times any number of keys, is a float32


def block_edges(count: int, size: int) -> np.ndarray:
    """Return where the even, gapless blocks begin that ``count`` cells are cut into, at most
    ``size``."""
    blocks = min(count, size)
    return np.arange(blocks) * count // blocks


def pooled_weights(trace: Trace, head: Head, size: int) -> Floats:
    """The largest weight of each block of a head's map, [min(Q, size), min(K, size)].

    Masked cells count as 0. Softmax is monotone in a row, so the largest weight of a block of keys
    is exp(its largest score − log Σ exp(scores)): each row needs one pass, and the map is never
    kept.
    """
    attention = trace.attention[head.kind]
    if not isinstance(attention, ComputedAttention):
        weights = trace.weights(*head)
        edges = [block_edges(count, size) for count in weights.shape]
        maxima = np.maximum.reduceat(weights, edges[1], axis=1)
        return np.maximum.reduceat(maxima, edges[0], axis=0)
    projections = attention.projections[head.layer]
    query, key = projections.query[head.head], projections.key[head.head]
    queries, keys = len(query), len(key)
    scaled = key / attention.divisor(head.layer)  # [K, d_k]
    bounds = [*block_edges(keys, size).tolist(), keys]
    by_query = np.empty((len(bounds) - 1, queries), np.float32)  # [B, Q]
    buffer = np.empty(keys * min(_QUERIES, queries), np.float32)
    for start in range(0, queries, _QUERIES):
        part = slice(start, min(start + _QUERIES, queries))
        count = part.stop - start
        # Queries side by side, so that maxima and sums over keys are of whole vectors.
        scores = buffer[: keys * count].reshape(keys, count)
        np.matmul(scaled, query[part].T, out=scores)  # [K, R]
        if attention.causal:
            scores[np.arange(keys)[:, None] > np.arange(part.start, part.stop)] = -np.inf
        largest = by_query[:, part]  # [B, R]
        for block, (first, last) in enumerate(pairwise(bounds)):
            scores[first:last].max(axis=0, out=largest[block])
        top = largest.max(axis=0)
        if not -_SAFE < top.min() <= top.max() < _SAFE:
            scores -= top
            largest -= top
        np.exp(largest, out=largest)
        largest /= np.exp(scores, out=scores).sum(axis=0)
    return np.maximum.reduceat(by_query, block_edges(queries, size), axis=1).T
