"""From what each layer mixes to what each position holds of the tokens that were fed (rollout).

Legend: S source, T target, L layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.heads import AttentionKind
from core.trace.trace import Floats, Trace

MOST_TOKENS = 1_000
"""On either side: each layer multiplies two n × n matrices."""

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


class DecoderMix(NamedTuple):
    """What the two attention blocks of a decoder layer mix; each row adds up to 1."""

    prefix: NDArray[np.float64]  # [T, T]
    source: NDArray[np.float64]  # [T, S + 1], the decoder's own stream last


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """The shares of the tokens fed in what each position holds after each layer.

    Attributes:
        encoder: [S, S] for each encoder layer, of the source; rows add up to 1.
        source: [T, S] for each decoder layer.
        prefix: [T, T] for each decoder layer, of the target fed so far; the rows of both together
            add up to 1.
    """

    encoder: tuple[Floats, ...] = ()
    source: tuple[Floats, ...] = ()
    prefix: tuple[Floats, ...] = ()

    def maps(self, kind: AttentionKind) -> tuple[Floats, ...]:
        """Return the map [Q, K] after each layer; none for a kind that cannot be composed."""
        return {E: self.encoder, D: self.prefix, C: self.source}[kind]

    def source_share(self, layer: int = -1) -> Floats:
        """Return the source's share of each position after a decoder layer, [T]; the prefix has the
        rest."""
        share: Floats = self.source[layer].sum(axis=1)
        return share


def compose(encoder: Sequence[NDArray[np.float64]], decoder: Sequence[DecoderMix]) -> Composition:
    """Multiply what the layers mix, from the first to the last (Abnar & Zuidema 2020, arXiv
    2005.00928), on through the decoder as ALTI+ does (Ferrando et al. 2022, arXiv 2205.11631).

    Args:
        encoder: [S, S] of each layer; rows add up to 1.
    """
    encoder_maps: list[NDArray[np.float64]] = []
    for mix in encoder:
        encoder_maps.append(mix @ encoder_maps[-1] if encoder_maps else mix)
    sources: list[NDArray[np.float64]] = []
    prefixes: list[NDArray[np.float64]] = []
    for layer in decoder:
        crossed, stays = layer.source[:, :-1], layer.source[:, -1:] * layer.prefix
        source = crossed @ encoder_maps[-1] if encoder_maps else crossed
        sources.append(source + stays @ sources[-1] if sources else source)
        prefixes.append(stays @ prefixes[-1] if prefixes else stays)
    return Composition(*map(_single, (encoder_maps, sources, prefixes)))


def rollout(trace: Trace, check: Callable[[], None] = lambda: None) -> Composition:
    """The composition of mean attention: half of each block's output is taken to be the mean of
    its heads' weights, half the residual.

    Weights alone decide, not the sizes of what they move. A decoder is composed where the trace
    has all that it looked at; a layer without heads passes on what it has.

    Args:
        check: called before each layer; what it raises ends the work.

    Raises:
        UserError: the text is longer than ``MOST_TOKENS``, or its decoder has not as many layers
            of cross-attention as of self-attention.
    """
    longest = max(len(trace.source_tokens), len(trace.target_tokens))
    if longest > MOST_TOKENS:
        raise UserError(
            f"Rollout is computed for up to {MOST_TOKENS:,} tokens per side, but this text has "
            f"{longest:,}; shorten it, or show the raw weights."
        )
    kinds = trace.kinds
    encoder = [_half(_mean(trace, E, layer, check)) for layer in _layers(trace, E)]
    if D not in kinds or (C in kinds and E not in kinds):
        return compose(encoder, ())
    if C in kinds and trace.layers(C) != trace.layers(D):
        raise UserError(
            "Rollout needs both attentions of each decoder layer; this trace has "
            f"{trace.layers(D)} layers of self-attention and {trace.layers(C)} of cross-attention."
        )
    length = len(trace.target_tokens)
    decoder = []
    for layer in _layers(trace, D):
        crossed = _mean(trace, C, layer, check) if C in kinds else np.zeros((length, 0))
        mixed = np.hstack([crossed, np.ones((length, 1))])
        source = mixed / mixed.sum(axis=1, keepdims=True)
        decoder.append(DecoderMix(_half(_mean(trace, D, layer, check)), source))
    return compose(encoder, decoder)


def _layers(trace: Trace, kind: AttentionKind) -> range:
    return range(trace.layers(kind) if kind in trace.kinds else 0)


def _mean(
    trace: Trace, kind: AttentionKind, layer: int, check: Callable[[], None]
) -> NDArray[np.float64]:
    """Of the layer's heads, [Q, K]; zeros where it has none."""
    check()
    shape = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
    total = np.zeros(shape)
    heads = trace.heads(kind, layer)
    for head in heads:
        total += trace.weights(kind, layer, head)
    return total / max(1, len(heads))


def _half(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the weights and half the position itself; [n, n]."""
    mixed = weights + np.eye(len(weights))
    result: NDArray[np.float64] = mixed / mixed.sum(axis=1, keepdims=True)
    return result


def _single(maps: Sequence[NDArray[np.float64]]) -> tuple[Floats, ...]:
    return tuple(one.astype(np.float32) for one in maps)
