from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from core.heads import AttentionKind, Head
from core.text.tokens import Token
from core.trace.pooled import pooled_weights
from core.trace.trace import (
    ComputedAttention,
    Floats,
    LayerProjections,
    StoredAttention,
    Trace,
)


def made(queries: int, keys: int, kind: AttentionKind, *, stored: bool) -> Trace:
    random = np.random.default_rng(queries + keys)
    arrays = [
        2 * random.standard_normal((2, count, 8), dtype=np.float32)
        for count in (queries, keys, keys)
    ]
    attention = ComputedAttention(
        (LayerProjections(*arrays),), causal=kind is AttentionKind.DECODER_SELF
    )
    if stored:
        attention = StoredAttention(np.stack([[attention.weights(0, head) for head in range(2)]]))
    tokens = {count: tuple(Token(f"▁{n}") for n in range(count)) for count in (queries, keys)}
    source = tokens[queries if kind is AttentionKind.ENCODER_SELF else keys]
    return Trace(source_tokens=source, target_tokens=tokens[queries], attention={kind: attention})


def largest(weights: Floats, size: int) -> Floats:
    """Block by block."""
    rows, columns = (np.arange(min(n, size) + 1) * n // min(n, size) for n in weights.shape)
    return np.array(
        [
            [weights[top:bottom, left:right].max() for left, right in pairwise(columns)]
            for top, bottom in pairwise(rows)
        ]
    )


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("kind", AttentionKind)
@pytest.mark.parametrize(("queries", "keys", "size"), [(150, 150, 64), (131, 77, 10), (5, 9, 64)])
def test_they_are_the_largest_of_the_whole_map(
    queries: int, keys: int, size: int, kind: AttentionKind, stored: bool
) -> None:
    if kind is not AttentionKind.CROSS:
        keys = queries
    trace = made(queries, keys, kind, stored=stored)
    for head in range(2):
        expected = largest(trace.weights(kind, 0, head), size)
        found = pooled_weights(trace, Head(kind, 0, head), size)
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("size", [40.0, 1e3])
def test_large_scores_do_not_overflow(size: float) -> None:
    random = np.random.default_rng(1)
    query, key = (
        np.float32(size**0.5) * random.standard_normal((1, 150, 8), dtype=np.float32)
        for _ in range(2)
    )
    attention = ComputedAttention((LayerProjections(query, key, key),))
    kind = AttentionKind.ENCODER_SELF
    tokens = tuple(Token(f"▁{n}") for n in range(150))
    trace = Trace(source_tokens=tokens, attention={kind: attention})
    found = pooled_weights(trace, Head(kind, 0, 0), 10)
    expected = largest(attention.weights(0, 0), 10)
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(attention.scores(0, 0)).max())
