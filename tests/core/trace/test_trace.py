from __future__ import annotations

import numpy as np
import pytest

from core.trace.trace import BLOCK, ComputedAttention, Floats, LayerProjections


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kept", [None, ((0, 2), (1,))])
def test_all_heads_of_a_layer_at_once_are_each_by_itself(
    causal: bool, kept: tuple[tuple[int, ...], ...] | None
) -> None:
    random = np.random.default_rng(3)

    def projections() -> LayerProjections:
        return LayerProjections(
            *(random.standard_normal((3, 5, 4), dtype=np.float32) for _ in range(3))
        )

    attention = ComputedAttention((projections(), projections()), causal=causal, kept=kept)
    for layer in range(2):
        whole = attention.layer_weights(layer)
        assert len(whole) == len(attention.heads(layer))
        for maps, head in zip(whole, attention.heads(layer), strict=True):
            np.testing.assert_allclose(maps, attention.weights(layer, head), atol=1e-6)


def softmax(scores: Floats, *, causal: bool) -> np.ndarray:
    """In float64."""
    scores = scores.astype(np.float64)
    if causal:
        scores[np.triu_indices_from(scores, 1)] = -np.inf
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [0.1, 1.0, 40.0, 1e4])
@pytest.mark.parametrize("count", [1, BLOCK, 2 * BLOCK + 3])
def test_block_by_block_is_the_softmax_of_the_scores(count: int, size: float, causal: bool) -> None:
    random = np.random.default_rng(count)
    query, key = (
        np.float32(size**0.5) * random.standard_normal((1, count, 16), dtype=np.float32)
        for _ in range(2)
    )
    attention = ComputedAttention((LayerProjections(query, key, key),), causal=causal)
    scores = attention.scores(0, 0)
    expected = softmax(scores, causal=causal)
    found = attention.weights(0, 0)
    # float32 scores are off by 1e-7 of their size, and weights by as much as the scores are
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, np.abs(scores).max()))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    blocks = [block.copy() for block in attention.blocks(0, 0)]
    assert all(len(block) <= BLOCK for block in blocks)
    np.testing.assert_array_equal(np.concatenate(blocks), found)
