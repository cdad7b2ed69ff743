"""Sinks: tokens that receive a head's weight whatever the query is (Xiao et al. 2023).

Legend: Q queries, K keys; A[i, j] is the weight of query i on key j.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.text.tokens import Token, TokenKind
from core.text.words import is_punctuation
from core.trace.trace import AttentionKind, Booleans, Floats, Trace, without_repetition

SINK_SHARE = 0.3
"""The threshold of Gu et al. 2024 for the first of 64 tokens."""

# What uniform attention gives the first of 64 tokens in a decoder: H(64) / 64.
_EVEN_AT_64 = sum(1 / t for t in range(1, 65)) / 64


class Sink(NamedTuple):
    """A key, and the share of all weight of the map that it receives."""

    key: int
    share: float


def sink_threshold(even: float) -> float:
    """The least share of a sink, where uniform attention would give it the share ``even``: as far
    above that as the published threshold is, but never below the published one."""
    return max(SINK_SHARE, even + SINK_SHARE - _EVEN_AT_64)


def may_be_sinks(tokens: Sequence[Token], kind: AttentionKind) -> Booleans:
    """Return which keys can be called sinks, [K]: special tokens, punctuation and the first token.

    Any other token may be attended to for what it means. In decoder self-attention only the first
    token is available to every query.
    """
    if kind is AttentionKind.DECODER_SELF:
        return np.array([index == 0 for index in range(len(tokens))], np.bool_)
    return np.array(
        [
            index == 0 or token.kind is TokenKind.SPECIAL or is_punctuation(token)
            for index, token in enumerate(tokens)
        ],
        np.bool_,
    )


def sinks_of(weights: Floats, allowed: Booleans, candidates: Booleans) -> tuple[Sink, ...]:
    """The sinks of a map, heaviest first: weights [Q, K], allowed [Q, K], candidates [K]."""
    keys = np.flatnonzero(candidates)
    received = weights[:, keys].mean(axis=0, dtype=np.float64).tolist()
    rows = without_repetition(allowed)
    counts = np.maximum(rows.sum(axis=1, keepdims=True), 1)
    even = (rows[:, keys] / counts).mean(axis=0).tolist()  # with uniform attention
    found = [
        Sink(key, share)
        for key, share, usual in zip(keys.tolist(), received, even, strict=True)
        if share >= sink_threshold(usual)
    ]
    return tuple(sorted(found, key=lambda sink: -sink.share))


def sink_entries(
    weights: Floats,
    allowed: Booleans,
    spans: Sequence[range],
    tokens: Sequence[Token],
    kind: AttentionKind,
) -> tuple[Sink, ...]:
    """The sinks of a map whose columns are words, or leave out tokens.

    Args:
        weights, allowed: [R, C].
        spans: [C], the tokens of each column.
        tokens: all keys of the trace.

    Returns:
        sinks whose ``key`` is a column.
    """
    candidates = may_be_sinks(tokens, kind)
    columns = np.array([candidates[span.start : span.stop].any() for span in spans], np.bool_)
    return sinks_of(weights, allowed, columns)


def sinks(trace: Trace, kind: AttentionKind, layer: int, head: int) -> tuple[Sink, ...]:
    """The sinks of one head on the text of the trace, heaviest first."""
    return sinks_of(
        trace.weights(kind, layer, head),
        trace.allowed(kind),
        may_be_sinks(trace.key_tokens(kind), kind),
    )
