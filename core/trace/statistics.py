"""What one head does on one text, in a few numbers.

Legend: Q queries, K keys, R queries at a time; A[i, j] is the weight of query i on key j.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.trace.trace import (
    AttentionKind,
    Booleans,
    Floats,
    Head,
    Trace,
    row_blocks,
    without_repetition,
)

_LEAST = np.float32(1e-38)  # 0 · log₂ of it is 0


@dataclass(frozen=True, slots=True)
class HeadStatistics:
    """A head's means over the queries; formulas in docs/formulas.md.

    Attributes:
        entropy: −Σ_j A log₂ A, in bits.
        entropy_limit: log₂ of the number of keys a query may attend to, in bits.
        confidence: the largest weight on a key that is not special (Voita et al. 2019).
        mean_distance: Σ_j A |i − j| in tokens (Vig & Belinkov 2019); None for cross-attention.
        offset_shares: weight on the previous, the same and the next position (Clark et al.
            2019); None for cross-attention.
        special_share: weight on special tokens.
        sink_share, sink_key: the key that receives most, and its share of all the weight (after
            Xiao et al. 2023).
    """

    entropy: float
    entropy_limit: float
    confidence: float
    mean_distance: float | None
    offset_shares: tuple[float, float, float] | None
    special_share: float
    sink_share: float
    sink_key: int


def head_statistics(trace: Trace, kind: AttentionKind, layer: int, head: int) -> HeadStatistics:
    special = np.array([token.kind == "special" for token in trace.key_tokens(kind)], np.bool_)
    return _statistics(
        trace.blocks(Head(kind, layer, head)),
        trace.allowed(kind),
        special,
        cross=kind is AttentionKind.CROSS,
    )


def statistics(
    weights: Floats, allowed: Booleans, special: Booleans, *, cross: bool
) -> HeadStatistics:
    """Compute statistics from weights [Q, K] whose rows add up to 1, allowed [Q, K] and special
    [K]."""
    return _statistics(row_blocks(weights), allowed, special, cross=cross)


def _statistics(
    blocks: Iterable[Floats], allowed: Booleans, special: Booleans, *, cross: bool
) -> HeadStatistics:
    """``blocks``: the weights, some rows at a time, [R, K] each."""
    queries, keys = allowed.shape
    specials = np.flatnonzero(special)
    ordinary = [
        slice(before + 1, after)
        for before, after in pairwise([-1, *specials, keys])
        if after - before > 1
    ]
    distances = _distances(queries, keys)
    received = np.zeros(keys)
    entropy = confidence = distance = 0.0
    diagonals: list[list[Floats]] = [[], [], []]
    start = 0
    for weights in blocks:
        logarithms = np.maximum(weights, _LEAST)
        np.log2(logarithms, out=logarithms)
        entropy -= _sum(np.einsum("qk,qk->q", weights, logarithms))
        received += weights.sum(axis=0)
        if ordinary:
            largest = [weights[:, part].max(axis=1) for part in ordinary]
            confidence += _sum(np.max(largest, axis=0))
        if not cross:
            rows = distances[start : start + len(weights)]
            distance += _sum(np.einsum("qk,qk->q", weights, rows))
            for offset, found in zip((-1, 0, 1), diagonals, strict=True):
                found.append(_diagonal(weights, start + offset))
        start += len(weights)
    sink = int(received.argmax())
    counts = np.maximum(without_repetition(allowed).sum(axis=1), 1)
    return HeadStatistics(
        entropy=max(0.0, entropy / queries),
        entropy_limit=float(np.log2(counts).mean()),
        confidence=confidence / queries,
        mean_distance=None if cross else distance / queries,
        offset_shares=None if cross else _offset_shares(diagonals),
        special_share=float(received[specials].sum() / queries),
        sink_share=float(received[sink] / queries),
        sink_key=sink,
    )


def _sum(rows: NDArray[Any]) -> float:
    return float(rows.sum(dtype=np.float64))


def _distances(queries: int, keys: int) -> NDArray[np.float64]:
    """|i − j|, [Q, K]; a view of little memory."""
    line = np.abs(np.arange(1 - queries, keys, dtype=np.float64))
    return np.lib.stride_tricks.sliding_window_view(line, keys)[::-1]


def _diagonal(weights: Floats, offset: int) -> Floats:
    """A[i, i + offset] of those rows of a block that have such a key."""
    diagonal: Floats = np.diagonal(weights, offset).copy()
    return diagonal


def _offset_shares(diagonals: Sequence[Sequence[Floats]]) -> tuple[float, float, float]:
    """mean_i A[i, i + k] for k = −1, 0, +1, over the queries that have such a key."""
    whole = [np.concatenate(parts) for parts in diagonals]
    previous, same, following = (float(d.mean()) if d.size else 0.0 for d in whole)
    return previous, same, following


@dataclass(frozen=True, slots=True)
class Leak:
    """What a decoder head without a mask sees that it should not: means over the rows that later
    tokens follow.

    Attributes:
        later: the weight on all later tokens.
        answer: the weight on the next one, which is the very token that the row is to predict.
    """

    later: float
    answer: float


def leaks(trace: Trace) -> dict[Head, Leak]:
    """Measure the leak of each head of the decoder's self-attention, in reading order.

    Zero where the mask was on; nothing where the trace has no such head, or a single target token.
    """
    kind = AttentionKind.DECODER_SELF
    if kind not in trace.kinds or len(trace.target_tokens) < 2:
        return {}
    return {head: _leak(trace, head) for head in trace.every_head(kind)}


def _leak(trace: Trace, head: Head) -> Leak:
    later = answer = 0.0
    start = 0
    for weights in trace.blocks(head):
        later += float(np.triu(weights, start + 1).sum(dtype=np.float64))
        answer += float(np.diagonal(weights, start + 1).sum(dtype=np.float64))
        start += len(weights)
    return Leak(later / (start - 1), answer / (start - 1))
