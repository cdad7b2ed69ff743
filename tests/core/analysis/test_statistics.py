"""Statistics over a corpus against those of each sentence's trace, and against plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.analysis.passes import Pair, encode_pairs, recorded_passes
from core.analysis.statistics import StatisticsSum, by_offset, cells_of
from core.config import ModelConfig
from core.model.transformer import Transformer
from core.statistics.registry import OF_MAPS
from core.statistics.rows import head_statistics
from core.text.tokens import TokenKind
from core.trace.record import trace_text
from core.trace.trace import AttentionKind, Head, Trace
from tests.core.analysis.planted import planted_tokenizer

TOKENIZER = planted_tokenizer()
TEXTS = [
    ("the dog crossed the street because it was tired.", "a cat saw the old house"),
    ("it", "a"),
    ("the zebra heard a child in the garden, and the river was not wide.", "the wide river."),
    ("is it green?", "the green tree was small, not old, and the cat saw a table of the house"),
]


@dataclass(frozen=True)
class Measured:
    traces: list[Trace]
    statistics: StatisticsSum


@pytest.fixture(scope="module")
def measured() -> Measured:
    config = ModelConfig(
        vocab_size=TOKENIZER.vocab_size,
        d_model=24,
        encoder_layers=2,
        decoder_layers=2,
        encoder_heads=3,
        decoder_heads=2,
        encoder_d_ff=16,
        decoder_d_ff=16,
    )
    torch.manual_seed(4)
    model = Transformer(config).eval()
    special = torch.tensor(
        [TOKENIZER.token(id).kind is TokenKind.SPECIAL for id in range(TOKENIZER.vocab_size)]
    )
    statistics = StatisticsSum()
    for passed in recorded_passes(model, encode_pairs(TOKENIZER, TEXTS), batch_tokens=40):
        for kind in AttentionKind:
            cells = cells_of(passed, kind, special)
            for layer in range(2):
                statistics.add(layer, passed.weights(kind, layer), cells)
    traces = [trace_text(model, TOKENIZER, source, target=target) for source, target in TEXTS]
    return Measured(traces, statistics)


HEADS = [
    Head(kind, layer, head)
    for kind in AttentionKind
    for layer in range(2)
    for head in range(3 if kind is AttentionKind.ENCODER_SELF else 2)
]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.code)
def test_they_are_the_mean_of_those_of_the_sentences(measured: Measured, head: Head) -> None:
    found = measured.statistics.of(head, head.head)
    singly = [head_statistics(trace, *head) for trace in measured.traces]

    for one in OF_MAPS:
        each = [value for single in singly if (value := single[one.id]) is not None]
        assert len(each) in (0, 3, 4), "one sentence may be too short"
        expected = pytest.approx(np.mean(each), rel=1e-5, abs=1e-6) if each else None
        assert found[one.id] == expected, one.id


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.code)
def test_they_are_what_the_formulas_say(measured: Measured, head: Head) -> None:
    found = measured.statistics.of(head, head.head)
    maps = [trace.weights(*head).astype(np.float64) for trace in measured.traces]
    causal = head.kind is AttentionKind.DECODER_SELF
    expected = by_the_formulas(maps, causal=causal)
    assert found["effective_span"] == pytest.approx(expected.effective_span, rel=1e-5)
    assert found["entropy_normalised"] == pytest.approx(expected.entropy_normalised, rel=1e-5)
    if head.kind is AttentionKind.CROSS:
        assert found["diagonal"] == pytest.approx(expected.diagonal_score, rel=1e-5)
        assert found.distance_histogram is None
    else:
        assert found["diagonal"] is None
        assert found.distance_histogram is not None
        padded = np.zeros(len(expected.distances))
        padded[: len(found.distance_histogram)] = found.distance_histogram
        np.testing.assert_allclose(padded, expected.distances, atol=1e-6)
        assert found["median_distance"] == expected.median


@dataclass(frozen=True)
class Expected:
    effective_span: float
    entropy_normalised: float
    diagonal_score: float
    distances: NDArray[np.float64]
    median: int


def by_the_formulas(maps: list[NDArray[np.float64]], *, causal: bool) -> Expected:
    """Cell by cell, in float64."""
    spans, shares, diagonals = [], [], []
    distances = np.zeros(30)
    for weights in maps:
        queries, keys = weights.shape
        rows = [-sum(w * np.log2(w) for w in row if w > 0) for row in weights]
        spans.append(np.mean([2**entropy for entropy in rows]))
        limits = [np.log2(i + 1 if causal else keys) for i in range(queries)]
        normalised = [row / limit for row, limit in zip(rows, limits, strict=True) if limit > 0]
        if normalised:
            shares.append(np.mean(normalised))
        places = [min(keys - 1, int(i * keys / queries + 0.5)) for i in range(queries)]
        diagonals.append(np.mean([weights[i, j] for i, j in enumerate(places)]))
        for i in range(queries):
            for j in range(keys):
                distances[abs(i - j)] += weights[i, j] / queries / len(maps)
    median = next(d for d in range(30) if distances[: d + 1].sum() >= 0.5)
    return Expected(
        float(np.mean(spans)), float(np.mean(shares)), float(np.mean(diagonals)), distances, median
    )


def test_offsets_are_the_diagonals() -> None:
    weights = torch.rand(2, 3, 4, 6)
    found = by_offset(weights)
    for column, offset in enumerate(range(-3, 6)):
        diagonal = weights.diagonal(offset, dim1=-2, dim2=-1).sum(dim=-1)
        torch.testing.assert_close(found[..., column], diagonal)


def test_the_histogram_has_all_the_weight_and_the_mean_distance(measured: Measured) -> None:
    found = measured.statistics.of(HEADS[0], 0)
    assert found.distance_histogram is not None
    histogram = np.array(found.distance_histogram)
    assert histogram.sum() == pytest.approx(1)
    assert histogram @ np.arange(len(histogram)) == pytest.approx(found["mean_distance"])


def test_pairs_keep_their_texts() -> None:
    pairs: list[Pair] = encode_pairs(TOKENIZER, TEXTS)
    assert [(pair.source, pair.target) for pair in pairs] == TEXTS
