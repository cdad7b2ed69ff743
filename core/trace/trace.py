"""The attention of one pass as a value: tokens and what each head computed.

Legend: S source, T target, Q queries, K keys, H heads, d_k head width. NumPy only, so that views
and other programs need no torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.heads import AttentionKind as AttentionKind
from core.heads import Gate as Gate
from core.heads import Head as Head
from core.switches import INTACT, Scaling, Switches
from core.text.tokens import Token

Floats: TypeAlias = NDArray[np.float32]
Booleans: TypeAlias = NDArray[np.bool_]


BLOCK = 64
"""Rows of a large map that are computed together, so that they stay in a core's cache."""

_SAFE = 60.0  # exp of so much, times any number of keys, is a float32


class Attention(Protocol):
    """The attention of all layers of one kind."""

    @property
    def layers(self) -> int: ...

    def heads(self, layer: int) -> Sequence[int]:
        """Return the numbers of a layer's heads; those that are missing were pruned."""
        ...

    def weights(self, layer: int, head: int, query: int | None = None) -> Floats:
        """Return weights [Q, K], or [K] of one query."""
        ...


@dataclass(frozen=True, slots=True)
class LayerProjections:
    """One layer's unscaled queries and keys, and its values; of a pruned head not numbers."""

    query: Floats  # [H, Q, d_k]
    key: Floats  # [H, K, d_k]
    value: Floats  # [H, K, d_v]


@dataclass(frozen=True, slots=True)
class ComputedAttention:
    """Attention that computes softmax(q kᵀ / √d_k) on demand (paper eq. 1): memory O(n·d), never n
    × n for every head.

    Attributes:
        causal: whether a query may attend to keys up to its own position only.
        kept: the heads of each layer that were not pruned; None if none was.
        scaling: by what q kᵀ was divided in the pass.
    """

    projections: tuple[LayerProjections, ...]
    causal: bool = False
    kept: tuple[tuple[int, ...], ...] | None = None
    scaling: Scaling = Scaling.ON

    @property
    def layers(self) -> int:
        return len(self.projections)

    def divisor(self, layer: int) -> np.float32:
        """Return by what the layer's products q·k are divided: √d_k, unless that was switched."""
        return np.float32(self.scaling.divisor(self.projections[layer].query.shape[-1]))

    def heads(self, layer: int) -> Sequence[int]:
        if self.kept is not None:
            return self.kept[layer]
        return range(len(self.projections[layer].query))

    def scores(self, layer: int, head: int, query: int | None = None) -> Floats:
        """Return q·k / √d_k before mask and softmax: [Q, K], or [K] of one query."""
        one = self.projections[layer]
        rows = one.query[head] if query is None else one.query[head, query]
        scaled = rows @ one.key[head].T / self.divisor(layer)
        return np.asarray(scaled, dtype=np.float32)

    def weights(self, layer: int, head: int, query: int | None = None) -> Floats:
        if query is not None:
            return self._softmax(self.scores(layer, head, query), query)
        one = self.projections[layer]
        weights = np.empty((one.query.shape[1], one.key.shape[1]), np.float32)
        for start, part in self.scaled_scores(layer, head, weights):
            self._softmax(part, start)
        return weights

    def blocks(self, layer: int, head: int) -> Iterator[Floats]:
        """The rows of ``weights``, ``BLOCK`` at a time, each good until the next one."""
        for start, part in self.scaled_scores(layer, head):
            yield self._softmax(part, start)

    def scaled_scores(
        self, layer: int, head: int, out: Floats | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """The rows of ``scores``, ``BLOCK`` at a time, each with the number of its first query.

        Args:
            out: [Q, K], where to write them; if None, each is good until the next one.
        """
        one = self.projections[layer]
        queries = one.query[head]
        keys = np.ascontiguousarray(one.key[head].T) / self.divisor(layer)
        buffer = np.empty((min(BLOCK, len(queries)), keys.shape[-1]), np.float32)
        for start in range(0, len(queries), BLOCK):
            rows = queries[start : start + BLOCK]
            part = buffer[: len(rows)] if out is None else out[start : start + BLOCK]
            yield start, np.matmul(rows, keys, out=part)

    def layer_weights(self, layer: int) -> Floats:
        """Return the weights of all heads of a layer by one product, [H, Q, K]."""
        one, heads = self.projections[layer], list(self.heads(layer))
        query = one.query[heads]
        key = one.key[heads] / self.divisor(layer)
        scores = query @ key.swapaxes(-2, -1)
        return self._softmax(np.asarray(scores, dtype=np.float32))

    def _softmax(self, scores: Floats, first: int = 0) -> Floats:
        """Of each row of scores [..., Q, K], or of one row [K], in place.

        Args:
            first: the query of the first row.
        """
        if self.causal:
            keys = np.arange(scores.shape[-1])
            queries = first if scores.ndim == 1 else first + np.arange(scores.shape[-2])[:, None]
            scores[..., keys > queries] = -np.inf
        largest = scores.max(axis=-1, keepdims=True)
        if largest.size == 0 or not -_SAFE < largest.min() <= largest.max() < _SAFE:
            scores -= largest
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        return scores


@dataclass(frozen=True, slots=True)
class StoredAttention:
    """Maps that another program computed, [L, H, Q, K]; those of a pruned head are NaN.

    ``kept``: the heads of each layer that were not pruned; None if none was.
    """

    maps: Floats
    kept: tuple[tuple[int, ...], ...] | None = None

    @property
    def layers(self) -> int:
        return len(self.maps)

    def heads(self, layer: int) -> Sequence[int]:
        return range(self.maps.shape[1]) if self.kept is None else self.kept[layer]

    def weights(self, layer: int, head: int, query: int | None = None) -> Floats:
        one: Floats = self.maps[layer, head]
        return one if query is None else one[query]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """One recorded pass, made once and never changed; each trace is equal to itself alone.

    Attributes:
        source_tokens: [S], the end-of-sentence token last.
        target_tokens: [T], what the decoder was fed: the begin token, then the translation.
        predicted_tokens: [T], what each decoder row predicts: the translation, then the end.
        log_probabilities: [T], natural logarithm of each predicted token's probability.
        attention: the kinds that are present, of which each has a head; an encoder-only model
            has one.
        gates: the heads that were not on in this pass, each with the factor on its output or
            ``EVEN``.
        switches: how the scaling and the mask of the model were switched in this pass.
    """

    source_tokens: tuple[Token, ...]
    attention: Mapping[AttentionKind, Attention]
    target_tokens: tuple[Token, ...] = ()
    predicted_tokens: tuple[Token, ...] = ()
    log_probabilities: Floats | None = None
    text: str = ""
    translation: str = ""
    gates: Mapping[Head, Gate] = field(default_factory=dict)
    switches: Switches = INTACT
    # kept once asked for; not carried into a copy with other attention
    _allowed: dict[AttentionKind, Booleans] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )
    _heads: dict[AttentionKind, tuple[Head, ...]] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    @property
    def kinds(self) -> tuple[AttentionKind, ...]:
        return tuple(kind for kind in AttentionKind if kind in self.attention)

    @property
    def has_ids(self) -> bool:
        """Whether its tokens name the ids of a vocabulary; those of a trace from a file do not."""
        tokens = (*self.source_tokens, *self.target_tokens, *self.predicted_tokens)
        return all(token.id >= 0 for token in tokens)

    def layers(self, kind: AttentionKind) -> int:
        return self.attention[kind].layers

    def heads(self, kind: AttentionKind, layer: int) -> Sequence[int]:
        """The numbers of the layer's heads; those that are missing were pruned."""
        return self.attention[kind].heads(layer)

    def every_head(self, kind: AttentionKind) -> tuple[Head, ...]:
        """Return all heads of one kind, in reading order."""
        if kind not in self._heads:
            self._heads[kind] = tuple(
                Head(kind, layer, head)
                for layer in range(self.layers(kind))
                for head in self.heads(kind, layer)
            )
        return self._heads[kind]

    def has(self, head: Head) -> bool:
        kind, layer, number = head
        return (
            kind in self.attention
            and 0 <= layer < self.layers(kind)
            and number in self.heads(kind, layer)
        )

    def nearest(self, head: Head) -> Head:
        """The head of this kind and of the nearest numbers, first the layer's."""
        return min(
            self.every_head(head.kind),
            key=lambda one: (abs(one.layer - head.layer), abs(one.head - head.head)),
        )

    def query_tokens(self, kind: AttentionKind) -> tuple[Token, ...]:
        return self.source_tokens if kind is AttentionKind.ENCODER_SELF else self.target_tokens

    def key_tokens(self, kind: AttentionKind) -> tuple[Token, ...]:
        return self.target_tokens if kind is AttentionKind.DECODER_SELF else self.source_tokens

    def weights(self, kind: AttentionKind, layer: int, head: int) -> Floats:
        """Return a head's weights [Q, K]; each row adds up to 1, masked cells are exactly 0."""
        return self.attention[kind].weights(layer, head)

    def blocks(self, head: Head) -> Iterator[Floats]:
        """The rows of ``weights``, at most ``BLOCK`` at a time, each good until the next one."""
        attention = self.attention[head.kind]
        if isinstance(attention, ComputedAttention):
            yield from attention.blocks(head.layer, head.head)
        else:
            yield from row_blocks(attention.weights(head.layer, head.head))

    def row(self, kind: AttentionKind, layer: int, head: int, query: int) -> Floats:
        """The weights of one query, [K]."""
        return self.attention[kind].weights(layer, head, query)

    def layer_weights(self, kind: AttentionKind, layer: int) -> Floats:
        """Return the weights of all heads of one layer, [H, Q, K]."""
        attention = self.attention[kind]
        if isinstance(attention, ComputedAttention):
            return attention.layer_weights(layer)
        return np.stack([self.weights(kind, layer, head) for head in self.heads(kind, layer)])

    def has_scores(self, kind: AttentionKind) -> bool:
        return isinstance(self.attention[kind], ComputedAttention)

    def scores(
        self, kind: AttentionKind, layer: int, head: int, query: int | None = None
    ) -> Floats:
        """Return q·k / √d_k before mask and softmax, [Q, K], or [K] of one query.

        Raises:
            UserError: the trace holds finished maps only.
        """
        attention = self.attention[kind]
        if not isinstance(attention, ComputedAttention):
            raise UserError("This trace contains only attention weights, without scores.")
        return attention.scores(layer, head, query)

    def allowed(self, kind: AttentionKind) -> Booleans:
        """Return where the mask lets a query attend, [Q, K], as a read-only view of little
        memory."""
        if kind not in self._allowed:
            shape = (len(self.query_tokens(kind)), len(self.key_tokens(kind)))
            everything = np.broadcast_to(np.True_, shape)
            causal = kind is AttentionKind.DECODER_SELF and self.switches.mask
            self._allowed[kind] = _causal(shape[0]) if causal else everything
        return self._allowed[kind]


def row_blocks(cells: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """[Q, K] as views of at most ``BLOCK`` rows."""
    return (cells[start : start + BLOCK] for start in range(0, len(cells), BLOCK))


def without_repetition(allowed: Booleans) -> Booleans:
    """The rows of ``Trace.allowed`` if they differ, or else the first one, [1, K]."""
    return allowed[:1] if allowed.strides[0] == 0 else allowed


def _causal(count: int) -> Booleans:
    """[count, count], True up to the diagonal: each row is a window on the same line of bits, one
    further to the left than the row before."""
    line = np.arange(2 * count - 1) < count
    return np.lib.stride_tricks.sliding_window_view(line, count)[::-1]
