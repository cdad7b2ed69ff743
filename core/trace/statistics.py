"""What one head does on one text, in a few numbers.

Legend: Q queries, K keys; A[i, j] is the weight of query i on key j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.trace.trace import AttentionKind, Booleans, Floats, Trace


@dataclass(frozen=True, slots=True)
class HeadStatistics:
    """Means over the queries; formulas in docs/formulas.md.

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
    return statistics(
        trace.weights(kind, layer, head),
        trace.allowed(kind),
        special,
        cross=kind is AttentionKind.CROSS,
    )


def statistics(
    weights: Floats, allowed: Booleans, special: Booleans, *, cross: bool
) -> HeadStatistics:
    """weights [Q, K] with rows adding up to 1, allowed [Q, K], special [K]."""
    queries, keys = weights.shape
    logarithms = np.log2(weights, where=weights > 0, out=np.zeros_like(weights))
    ordinary = weights[:, ~special]
    received = weights.mean(axis=0)  # [K]
    sink = int(received.argmax())
    distance = np.abs(np.arange(queries)[:, None] - np.arange(keys))
    return HeadStatistics(
        entropy=max(0.0, -float((weights * logarithms).sum()) / queries),
        entropy_limit=float(np.log2(np.maximum(allowed.sum(axis=1), 1)).mean()),
        confidence=float(ordinary.max(axis=1).mean()) if ordinary.shape[1] else 0.0,
        mean_distance=None if cross else float((weights * distance).sum() / queries),
        offset_shares=None if cross else _offset_shares(weights),
        special_share=float(weights[:, special].sum() / queries),
        sink_share=float(received[sink]),
        sink_key=sink,
    )


def _offset_shares(weights: Floats) -> tuple[float, float, float]:
    """mean_i A[i, i + k] for k = −1, 0, +1, over the queries that have such a key."""
    diagonals = [np.diagonal(weights, offset) for offset in (-1, 0, 1)]
    previous, same, following = (float(d.mean()) if d.size else 0.0 for d in diagonals)
    return previous, same, following
