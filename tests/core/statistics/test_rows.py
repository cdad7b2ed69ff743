from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.statistics.rows import HeadStatistics, head_statistics, map_statistics
from core.text.tokens import Token, TokenKind
from core.trace.trace import (
    BLOCK,
    AttentionKind,
    ComputedAttention,
    Floats,
    LayerProjections,
    StoredAttention,
    Trace,
)

N = 8


def measured(
    weights: Floats, *, causal: bool = False, special: tuple[int, ...] = (), cross: bool = False
) -> HeadStatistics:
    allowed = np.ones(weights.shape, dtype=np.bool_)
    marks = np.zeros(weights.shape[1], dtype=np.bool_)
    marks[list(special)] = True
    weights = weights.astype(np.float32)
    self_attention = AttentionKind.DECODER_SELF if causal else AttentionKind.ENCODER_SELF
    kind = AttentionKind.CROSS if cross else self_attention
    return map_statistics(weights, np.tril(allowed) if causal else allowed, marks, kind)


def offsets(head: HeadStatistics) -> tuple[float | None, ...]:
    return tuple(head[id] for id in ("previous", "same", "next"))


def uniform(n: int) -> Floats:
    return np.full((n, n), 1 / n, dtype=np.float32)


def previous_token(n: int) -> Floats:
    """Each token on the one before it, the first on itself."""
    return np.eye(n, dtype=np.float32)[np.maximum(np.arange(n) - 1, 0)]


def causal_uniform(n: int) -> Floats:
    lower = np.tril(np.ones((n, n), dtype=np.float32))
    return lower / lower.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n", [1, 2, N, 100])
def test_a_uniform_head(n: int) -> None:
    head = measured(uniform(n))
    assert head["entropy"] == pytest.approx(math.log2(n), abs=1e-5)
    assert head.entropy_limit == pytest.approx(math.log2(n))
    assert head["confidence"] == pytest.approx(1 / n)
    assert head["mean_distance"] == pytest.approx((n * n - 1) / (3 * n), abs=1e-6)
    assert head["sink"] == pytest.approx(1 / n)


def test_a_diagonal_head() -> None:
    head = measured(np.eye(N))
    assert head["entropy"] == 0
    assert head["confidence"] == 1
    assert head["mean_distance"] == 0
    assert offsets(head) == (0, 1, 0)
    assert head["sink"] == pytest.approx(1 / N)


def test_no_entropy_is_written_without_a_sign() -> None:
    assert f"{measured(np.eye(N))['entropy']:.2f}" == "0.00"


def test_a_previous_token_head() -> None:
    head = measured(previous_token(N))
    assert head["entropy"] == 0
    assert offsets(head) == (1, 1 / N, 0)
    assert head["mean_distance"] == pytest.approx((N - 1) / N)
    assert (head["sink"], head.sink_key) == (pytest.approx(2 / N), 0)


def test_a_next_token_head() -> None:
    weights = np.eye(N, dtype=np.float32)[np.minimum(np.arange(N) + 1, N - 1)]
    assert offsets(measured(weights)) == (0, 1 / N, 1)


def test_a_head_that_drains_to_the_end_token() -> None:
    weights = np.zeros((N, N))
    weights[:, -1] = 1
    head = measured(weights, special=(N - 1,))
    assert (head["sink"], head.sink_key) == (1, N - 1)
    assert head["special"] == 1
    assert head["confidence"] == 0
    assert head["mean_distance"] == pytest.approx((N - 1) / 2)


def test_half_on_a_special_token() -> None:
    head = measured(0.5 * np.eye(N) + 0.5 * (np.arange(N) == 0), special=(0,))
    assert head["special"] == pytest.approx(0.5 + 0.5 / N)
    assert head["confidence"] == pytest.approx(0.5 * (N - 1) / N)
    assert head.sink_key == 0


def test_the_limit_of_a_causal_head_is_what_its_mask_leaves_open() -> None:
    head = measured(causal_uniform(N), causal=True)
    assert head.entropy_limit == pytest.approx(math.log2(math.factorial(N)) / N)
    assert head["entropy"] == pytest.approx(head.entropy_limit, rel=1e-5)
    harmonic = sum(1 / i for i in range(1, N + 1))
    assert (head["sink"], head.sink_key) == (pytest.approx(harmonic / N), 0)


def test_the_last_token_of_a_causal_diagonal_is_no_sink() -> None:
    """Only one query may attend to it, so all of that query is still little of the whole."""
    assert measured(np.eye(N), causal=True)["sink"] == pytest.approx(1 / N)


def test_distance_means_nothing_between_two_sentences() -> None:
    weights = np.full((3, 5), 0.2)
    head = measured(weights, cross=True)
    assert head["mean_distance"] is None
    assert offsets(head) == (None, None, None)
    assert head["entropy"] == pytest.approx(math.log2(5))


@pytest.mark.parametrize("special", [(), (0,)])
def test_a_single_token(special: tuple[int, ...]) -> None:
    head = measured(np.ones((1, 1)), special=special)
    assert (head["entropy"], head.entropy_limit) == (0, 0)
    assert offsets(head) == (None, 1, None), "no query has a key beside its own"
    assert head["confidence"] == (0 if special else 1)


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 12),
    sharpness=st.floats(0, 50),
    causal=st.booleans(),
)
def test_every_figure_stays_within_its_bounds(
    seed: int, n: int, sharpness: float, causal: bool
) -> None:
    scores = sharpness * np.random.default_rng(seed).standard_normal((n, n))
    if causal:
        scores[np.triu_indices(n, 1)] = -np.inf
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    head = measured(exponentials / exponentials.sum(axis=1, keepdims=True), causal=causal)
    assert head["entropy"] is not None
    assert head["sink"] is not None
    assert 0 <= head["entropy"] <= head.entropy_limit + 1e-5
    assert head["mean_distance"] is not None
    assert 0 <= head["mean_distance"] <= n - 1 + 1e-5
    shares = [share for id, share in head.values.items() if id not in ("entropy", "mean_distance")]
    assert all(0 <= share <= 1 + 1e-5 for share in shares)
    assert 1 / n - 1e-5 <= head["sink"]


def trace(maps: Callable[[int, int], Floats]) -> Trace:
    source = (Token("▁a"), Token("b"), Token("</s>", kind=TokenKind.SPECIAL))
    target = (Token("<s>", kind=TokenKind.SPECIAL), Token("▁c"))
    lengths = {
        AttentionKind.ENCODER_SELF: (3, 3),
        AttentionKind.DECODER_SELF: (2, 2),
        AttentionKind.CROSS: (2, 3),
    }
    attention = {
        kind: StoredAttention(np.stack([[maps(*lengths[kind]), maps(*lengths[kind])]]))
        for kind in AttentionKind
    }
    return Trace(source_tokens=source, target_tokens=target, attention=attention)


def test_a_trace_knows_its_special_keys_and_masks() -> None:
    def on_last(queries: int, keys: int) -> Floats:
        return np.tile(np.eye(keys, dtype=np.float32)[-1], (queries, 1))

    example = trace(on_last)
    encoder = head_statistics(example, AttentionKind.ENCODER_SELF, 0, 1)
    assert (encoder["special"], encoder.entropy_limit) == (1, pytest.approx(math.log2(3)))
    cross = head_statistics(example, AttentionKind.CROSS, 0, 0)
    assert (cross["special"], cross["mean_distance"]) == (1, None)
    decoder = head_statistics(example, AttentionKind.DECODER_SELF, 0, 0)
    assert (decoder["special"], decoder.entropy_limit) == (0, 0.5)


@pytest.mark.parametrize("kind", [AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF])
def test_of_a_long_text_some_rows_at_a_time(kind: AttentionKind) -> None:
    random = np.random.default_rng(0)
    count = 2 * BLOCK + 5
    query, key = (random.standard_normal((1, count, 8), dtype=np.float32) for _ in range(2))
    causal = kind is AttentionKind.DECODER_SELF
    attention = ComputedAttention((LayerProjections(query, key, key),), causal=causal)
    tokens = tuple(
        Token("</s>", kind=TokenKind.SPECIAL) if n in (0, 40, count - 1) else Token(f"▁{n}")
        for n in range(count)
    )
    trace = Trace(source_tokens=tokens, target_tokens=tokens, attention={kind: attention})
    found = head_statistics(trace, kind, 0, 0)
    weights = trace.weights(kind, 0, 0).astype(np.float64)
    plain = [token.kind is not TokenKind.SPECIAL for token in tokens]
    distance = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    logarithms = np.log2(weights, where=weights > 0, out=np.zeros_like(weights))
    assert found["entropy"] == pytest.approx(-(weights * logarithms).sum() / count, rel=1e-5)
    assert found["confidence"] == pytest.approx(weights[:, plain].max(axis=1).mean(), rel=1e-5)
    assert found["mean_distance"] == pytest.approx((weights * distance).sum() / count, rel=1e-5)
    assert offsets(found) == pytest.approx(
        [np.diagonal(weights, offset).mean() for offset in (-1, 0, 1)], rel=1e-5
    )
    specials = weights[:, ~np.array(plain)]
    assert found["special"] == pytest.approx(specials.sum() / count, rel=1e-5)
    assert found["sink"] == pytest.approx(weights.mean(axis=0).max(), rel=1e-5)
    assert found.sink_key == weights.sum(axis=0).argmax()
    allowed = np.arange(1, count + 1) if causal else np.full(count, count)
    assert found.entropy_limit == pytest.approx(np.log2(allowed).mean())
