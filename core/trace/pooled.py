"""The largest weight of each block of a large map, without the map: what a thumbnail shows.

Legend: Q queries, K keys, R rows at a time, B blocks of keys, d_k width of a head.
"""

from __future__ import annotations

import numpy as np

from core.trace.trace import ComputedAttention, Floats, Head, Trace

_ROWS = 64  # that many rows of scores stay in a core's cache


def block_edges(count: int, size: int) -> np.ndarray:
    """Where the even, gapless blocks begin that ``count`` cells are cut into, at most ``size``."""
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
    scaled = np.ascontiguousarray(key.T) / np.float32(key.shape[-1] ** 0.5)  # [d_k, K]
    columns = block_edges(keys, size)
    by_row = np.empty((queries, len(columns)), np.float32)  # [Q, B]
    for start in range(0, queries, _ROWS):
        rows = slice(start, min(start + _ROWS, queries))
        scores = query[rows] @ scaled  # [R, K]
        if attention.causal:
            later = np.arange(keys) > np.arange(rows.start, rows.stop)[:, None]
            scores[later] = -np.inf
        largest = np.maximum.reduceat(scores, columns, axis=1)  # [R, B]
        top = largest.max(axis=1, keepdims=True)
        scores -= top
        np.exp(scores, out=scores)
        by_row[rows] = np.exp(largest - top) / scores.sum(axis=1, keepdims=True)
    return np.maximum.reduceat(by_row, block_edges(queries, size), axis=0)
