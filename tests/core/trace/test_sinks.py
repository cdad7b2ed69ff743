"""Sinks of maps that are written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.text.tokens import Token, TokenKind
from core.trace.sinks import SINK_SHARE, Sink, may_be_sinks, sink_threshold, sinks_of
from core.trace.trace import AttentionKind

ENCODER, DECODER, CROSS = AttentionKind


def token(piece: str, kind: TokenKind = TokenKind.PIECE) -> Token:
    return Token(piece=piece, kind=kind)


TOKENS = (
    *(token("▁The"), token("▁dog"), token("▁slept"), token(".")),
    token("</s>", TokenKind.SPECIAL),
)


def test_only_tokens_that_mean_little_can_be_sinks() -> None:
    for kind in (ENCODER, CROSS):
        assert may_be_sinks(TOKENS, kind).tolist() == [True, False, False, True, True]
    assert may_be_sinks(TOKENS, DECODER).tolist() == [True, False, False, False, False]


def test_a_column_with_most_of_the_weight_is_a_sink_and_a_word_never() -> None:
    weights = np.full((5, 5), 0.05, np.float32)
    weights[:, 4] = 0.8
    everything = np.ones((5, 5), np.bool_)
    candidates = may_be_sinks(TOKENS, ENCODER)
    assert sinks_of(weights, everything, candidates) == (Sink(4, pytest.approx(0.8)),)
    swapped = weights[:, [0, 4, 2, 3, 1]]  # the weight is on "dog"
    assert sinks_of(swapped, everything, candidates) == ()


def test_two_sinks_the_heavier_first() -> None:
    weights = np.zeros((10, 10), np.float32)
    weights[:, 0], weights[:, 9] = 0.4, 0.6
    candidates = np.ones(10, np.bool_)
    found = sinks_of(weights, np.ones((10, 10), np.bool_), candidates)
    assert [sink.key for sink in found] == [9, 0]


def test_uniform_attention_has_no_sink_however_short_the_text() -> None:
    for n in range(1, 12):
        causal = np.tril(np.ones((n, n), np.bool_))
        for allowed in (np.ones((n, n), np.bool_), causal):
            weights = (allowed / allowed.sum(axis=1, keepdims=True)).astype(np.float32)
            found = sinks_of(weights, allowed, np.ones(n, np.bool_))
            assert found == () or n == 1


def test_the_threshold_is_the_published_one_at_its_own_length() -> None:
    harmonic = sum(1 / t for t in range(1, 65))
    assert sink_threshold(harmonic / 64) == pytest.approx(SINK_SHARE)
    assert sink_threshold(0.0) == SINK_SHARE
    assert sink_threshold(0.5) == pytest.approx(0.8 - harmonic / 64)
