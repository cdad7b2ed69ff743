"""Each statistic with torch, on padded float32 batches, against NumPy in float64, map by map."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.heads import AttentionKind
from core.statistics.batches import Cells, sentence_statistics
from core.statistics.registry import OF_CORPORA, OF_MAPS
from core.statistics.rows import map_statistics

HEADS = 3


def attention(
    random: np.random.Generator, queries: int, keys: int, *, causal: bool
) -> NDArray[np.float64]:
    scores = random.normal(scale=3, size=(HEADS, queries, keys))
    if causal:
        scores = np.where(np.tril(np.ones((queries, keys), np.bool_)), scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: NDArray[np.float64] = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights


@pytest.mark.parametrize("kind", AttentionKind)
@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=4),
)
def test_a_padded_batch_has_the_statistics_of_its_sentences(
    kind: AttentionKind, seed: int, sizes: list[tuple[int, int]]
) -> None:
    random = np.random.default_rng(seed)
    causal = kind is AttentionKind.DECODER_SELF
    if kind is not AttentionKind.CROSS:
        sizes = [(queries, queries) for queries, _ in sizes]
    maps = [attention(random, *size, causal=causal) for size in sizes]
    specials = [random.random(keys) < 0.3 for _, keys in sizes]
    allowed = [np.ones(size, np.bool_) for size in sizes]
    if causal:
        allowed = [np.tril(each) for each in allowed]

    longest = tuple(max(each) for each in zip(*sizes, strict=True))
    weights = torch.zeros(len(sizes), HEADS, *longest)
    may, ordinary = (torch.zeros(len(sizes), *longest, dtype=torch.bool) for _ in range(2))
    for n, (queries, keys) in enumerate(sizes):
        weights[n, :, :queries, :keys] = torch.tensor(maps[n])
        may[n, :queries, :keys] = torch.tensor(allowed[n])
        ordinary[n, :queries, :keys] = torch.tensor(allowed[n] & ~specials[n])
    lengths = torch.tensor(sizes)
    nothing = torch.zeros(len(sizes), longest[1], dtype=torch.long)
    cells = Cells(kind, may, ordinary, lengths[:, 0], lengths[:, 1], nothing)

    found = sentence_statistics(weights, cells)
    assert list(found) == [one.id for one in OF_CORPORA if kind in one.kinds]
    for n, of_heads in enumerate(maps):
        for head, one in enumerate(of_heads):
            expected = map_statistics(one, allowed[n], specials[n], kind).values
            assert expected.keys() <= found.keys()
            for statistic in OF_MAPS:
                if statistic.id in found:
                    value = found[statistic.id][n, head].item()
                    wanted = expected.get(statistic.id, math.nan)
                    assert value == pytest.approx(wanted, rel=1e-4, abs=1e-5, nan_ok=True)
