"""A map as it is drawn: one head or the mean of several, over tokens or over words.

Legend: Q queries, K keys (tokens); R rows, C columns (entries: a token or the pieces of a word).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.text.tokens import Token, TokenKind
from core.text.words import join_pieces, word_spans
from core.trace.trace import Booleans, Floats, Head, Trace


@dataclass(frozen=True, slots=True)
class Entries:
    """What one axis shows, in order.

    Attributes:
        spans: the token indices of each entry; a token that is left out is in none.
        tokens: each entry as one token, for its label.
    """

    spans: tuple[range, ...]
    tokens: tuple[Token, ...]

    def __len__(self) -> int:
        return len(self.spans)

    def of_token(self, index: int) -> int | None:
        """The entry that a token is in."""
        entry = bisect_right(self.spans, index, key=lambda span: span.start) - 1
        return entry if entry >= 0 and index in self.spans[entry] else None

    def token(self, entry: int) -> int:
        """The token that stands for an entry in a selection: its last, whose row says what
        follows the word."""
        return self.spans[entry][-1]


@dataclass(frozen=True, slots=True, eq=False)
class HeadMap:
    """A head's weights by the entries of its axes.

    Attributes:
        weights: [R, C]; each row and its hidden weight add up to 1.
        allowed: [R, C], False where all of a cell is masked.
        hidden: [R], the weight on keys that are left out.
    """

    weights: Floats
    allowed: Booleans
    hidden: Floats


def entries(
    tokens: Sequence[Token], *, merge_words: bool = False, hide_specials: bool = False
) -> Entries:
    """The entries of an axis: tokens, or words (`word_spans`), with or without the specials."""
    spans = word_spans(tokens) if merge_words else [range(i, i + 1) for i in range(len(tokens))]
    if hide_specials:
        spans = [span for span in spans if tokens[span.start].kind is not TokenKind.SPECIAL]
    return Entries(
        tuple(spans), tuple(join_pieces(tokens[span.start : span.stop]) for span in spans)
    )


def head_map(trace: Trace, heads: Sequence[Head], rows: Entries, columns: Entries) -> HeadMap:
    """The mean of one or more heads of one kind, the columns of an entry summed and its rows
    averaged, so that rows still add up to 1 (Clark et al. 2019, arXiv 1906.04341).

    A cell is masked only where all that it is made of is.
    """
    weights = mean_weights(trace, heads)
    keys = _indices(columns)
    left_out = np.setdiff1d(np.arange(weights.shape[1]), keys)
    hidden = weights[:, left_out].sum(axis=1, dtype=np.float32)  # [Q]
    allowed = _grouped(trace.allowed(heads[0].kind), columns, np.logical_or, axis=1)
    return HeadMap(
        weights=mean_rows(_grouped(weights, columns, np.add, axis=1), rows),
        allowed=_grouped(allowed, rows, np.logical_or, axis=0),
        hidden=mean_rows(hidden, rows),
    )


def cell_weight(trace: Trace, heads: Sequence[Head], queries: range, keys: range) -> float:
    """One cell of `head_map` for the entries with these tokens, without the rest of the map."""
    total = sum(
        float(trace.row(*head, query)[keys.start : keys.stop].sum())
        for head in heads
        for query in queries
    )
    return total / (len(heads) * len(queries))


def map_row(
    trace: Trace, heads: Sequence[Head], queries: range, columns: Entries
) -> tuple[Floats, Booleans]:
    """One row of `head_map` for the entry with these tokens, without the rest of the map: the
    weights and where they are allowed, both [C]."""
    weights = np.mean([trace.row(*head, query) for head in heads for query in queries], axis=0)
    allowed = np.logical_or.reduce(trace.allowed(heads[0].kind)[queries.start : queries.stop])
    return (
        _grouped(weights, columns, np.add, axis=0),
        _grouped(allowed, columns, np.logical_or, axis=0),
    )


def mean_weights(trace: Trace, heads: Sequence[Head]) -> Floats:
    """The mean of the heads' weights, [Q, K]; of one head, its weights."""
    weights = trace.weights(*heads[0])
    if len(heads) == 1:
        return weights
    total = weights.copy()
    for head in heads[1:]:
        total += trace.weights(*head)
    total /= len(heads)
    return total


def mean_rows(values: Floats, rows: Entries) -> Floats:
    """The mean over the tokens of each entry, [Q, …] to [R, …]; ``values`` themselves where each
    token is an entry."""
    total: Floats = _grouped(values, rows, np.add, axis=0)
    if total is values:
        return values
    counts = np.array([len(span) for span in rows.spans], np.float32)
    return np.divide(total, counts.reshape(-1, *[1] * (total.ndim - 1)), dtype=np.float32)


def _grouped(values: NDArray[Any], groups: Entries, ufunc: np.ufunc, *, axis: int) -> NDArray[Any]:
    """One value for each entry from those of its tokens along an axis."""
    if len(groups) == values.shape[axis]:
        return values  # each token is an entry
    sizes = np.array([len(span) for span in groups.spans], np.intp)
    firsts = np.cumsum(sizes) - sizes
    grouped: NDArray[Any] = ufunc.reduceat(values.take(_indices(groups), axis), firsts, axis)
    return grouped


def _indices(groups: Entries) -> NDArray[np.intp]:
    """Every token that is shown, in order."""
    return np.array([index for span in groups.spans for index in span], np.intp)
