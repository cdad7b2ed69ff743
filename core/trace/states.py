"""The residual stream of one pass as a value: what each sub-layer reads, adds and leaves.

Legend: P recorded positions, D d_model, H heads that a layer has, F feed-forward width. NumPy only;
``core.trace.record_states`` makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.trace.trace import Floats


class Sublayer(StrEnum):
    """The sub-layers of a layer, in the order of the data; an encoder has no cross-attention."""

    SELF_ATTENTION = "self_attention"
    CROSS_ATTENTION = "cross_attention"
    FEED_FORWARD = "feed_forward"


@dataclass(frozen=True, slots=True, eq=False)
class SublayerState:
    """One sub-layer with its residual connection and its norm.

    A post-norm model leaves ``normed``, the norm of the sum; a pre-norm model leaves ``sum``, and
    ``normed`` is the norm of ``before``, which the sub-layer reads.

    Attributes:
        before: the residual stream that enters, [P, D].
        added: what the sub-layer adds to it, [P, D].
        normed: what the norm makes of its input, [P, D].
        hidden: what the sub-layer's last matrix reads: the heads' outputs side by side, each times
            its gate, [P, H·d_v], or the activations of the feed-forward network, [P, F].
    """

    sublayer: Sublayer
    pre_norm: bool
    before: Floats
    added: Floats
    normed: Floats
    hidden: Floats

    @property
    def sum(self) -> Floats:
        """What enters plus what is added, [P, D]."""
        return self.before + self.added

    @property
    def after(self) -> Floats:
        """The residual stream that leaves, [P, D]."""
        return self.sum if self.pre_norm else self.normed


@dataclass(frozen=True, slots=True, eq=False)
class StackStates:
    """The states of an encoder or a decoder.

    Attributes:
        positions: the tokens that were recorded, P of them, counted from 0.
        embedded: their embeddings as they are scaled, by √d_model in the paper, [P, D].
        positioned: the same plus the encodings of their positions, [P, D].
        layers: the sub-layers of each layer, from the bottom to the top.
        output: what leaves the stack, after its final norm if it has one, [P, D].
    """

    positions: tuple[int, ...]
    embedded: Floats
    positioned: Floats
    layers: tuple[tuple[SublayerState, ...], ...]
    output: Floats

    def streams(self) -> Floats:
        """Return the residual stream below the first layer and after each layer, [L + 1, P, D]."""
        return np.stack([self.positioned, *(layer[-1].after for layer in self.layers)])


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The states of both stacks."""

    encoder: StackStates
    decoder: StackStates


class Unit(NamedTuple):
    """A unit of a feed-forward network, counted from 0, and its activation."""

    number: int
    activation: float


def most_active(hidden: Floats, count: int) -> tuple[Unit, ...]:
    """Return the units of one position that are farthest from 0, the farthest first.

    Args:
        hidden: ``SublayerState.hidden`` of a feed-forward network at one position, [F].
    """
    order = np.argsort(-np.abs(hidden), kind="stable")[:count]
    return tuple(Unit(int(number), float(hidden[number])) for number in order)


def lengths(vectors: Floats) -> Floats:
    """Return the Euclidean length of each vector, […, D] → […]."""
    norms: Floats = np.linalg.norm(vectors, axis=-1)
    return norms


def angles(first: Floats, second: Floats) -> Floats:
    """Return the angle between vectors in degrees, twice […, D] → […]; NaN at a zero vector."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    with np.errstate(invalid="ignore"):
        a /= np.linalg.norm(a, axis=-1, keepdims=True)
        b /= np.linalg.norm(b, axis=-1, keepdims=True)
    # Of unit vectors; unlike the arc cosine, it is exact for small angles too.
    sides = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    degrees: NDArray[np.float64] = np.degrees(2 * np.arctan2(*sides))
    return degrees.astype(np.float32)


def state_arrays(states: States) -> Mapping[str, Floats]:
    """Return the states as the arrays that ``transformer-viz trace --states`` writes
    (docs/traces.md)."""
    arrays: dict[str, Floats] = {}
    for stack, name in ((states.encoder, "encoder"), (states.decoder, "decoder")):
        arrays |= {
            f"states_{name}_embedded": stack.embedded,
            f"states_{name}_positioned": stack.positioned,
            f"states_{name}_output": stack.output,
            f"states_{name}_hidden": np.stack([layer[-1].hidden for layer in stack.layers]),
        }
        for each in ("before", "added", "sum", "normed"):
            arrays[f"states_{name}_{each}"] = np.array(
                [[getattr(sublayer, each) for sublayer in layer] for layer in stack.layers]
            )
    return arrays
