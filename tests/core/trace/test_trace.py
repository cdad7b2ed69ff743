from __future__ import annotations

import numpy as np
import pytest

from core.trace.trace import ComputedAttention, LayerProjections


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
