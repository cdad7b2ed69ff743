"""What happens to one token from its embedding to the top of its stack, as values to be drawn.

Legend: D d_model, H heads of a layer, F feed-forward width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.heads import AttentionKind, Head
from core.text.tokens import Token
from core.trace.states import StackStates, Sublayer, SublayerState, angles, lengths, most_active
from core.trace.trace import Floats, Trace
from transformer_viz.engine.recorded_states import Recorded
from transformer_viz.state.linking import Place

UNITS = 5
"""Units of each feed-forward network that are shown, the most active ones."""

_CLIPPED = 99.0  # per cent of all numbers are within the ends of the colours

NAMES = {
    Sublayer.SELF_ATTENTION: "Self-attention",
    Sublayer.CROSS_ATTENTION: "Cross-attention",
    Sublayer.FEED_FORWARD: "Feed-forward",
}


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A named vector on the way, [D], and its length."""

    name: str
    values: Floats
    length: float


@dataclass(frozen=True, slots=True)
class Source:
    """A unit or a head in a sub-layer: its name, and its activation or the length of its output."""

    name: str
    value: float
    head: Head | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of the stream upwards.

    Attributes:
        layer: counted from 0; None below the first layer and above the last.
        vectors: from the bottom to the top.
        before: the length of the stream that enters; 0 for the embedding.
        added: the length of what is added; None for a final norm, which adds nothing.
        total: the length of the sum.
        after: the length of the stream that leaves.
        angle: by how much it was turned, in degrees; NaN where a vector is zero.
        sources: the heads that send most, or the most active units.
        active: the units that are above 0, of all of the network; None without a network.
    """

    title: str
    layer: int | None
    sublayer: Sublayer | None
    vectors: tuple[Vector, ...]
    before: float
    added: float | None
    total: float
    after: float
    angle: float
    sources: tuple[Source, ...] = ()
    active: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TokenStream:
    """The whole way of one token.

    Attributes:
        predicted: what a decoder row predicts, with its probability.
        steps: from the bottom to the top.
        limit: what the ends of the colours stand for; the few numbers beyond are as strong.
        longest: the largest length on the way.
    """

    place: Place
    token: Token
    predicted: tuple[Token, float] | None
    steps: tuple[Step, ...]
    limit: float
    longest: float


def token_stream(found: Recorded, place: Place, *, scaled_by: int | None) -> TokenStream | None:
    """Return the stream of a token, or None if its states were not recorded.

    Args:
        scaled_by: d_model, where the embedding is multiplied by its root.
    """
    row = found.row(place)
    if row is None:
        return None
    trace, stack = found.trace, found.stack(place.side)
    steps = tuple(_steps(trace, place, stack, row, scaled_by))
    every = np.concatenate([vector.values for step in steps for vector in step.vectors])
    tokens = trace.source_tokens if place.side == "source" else trace.target_tokens
    predicted = None
    if place.side == "target" and trace.log_probabilities is not None:
        probability = float(np.exp(trace.log_probabilities[place.index]))
        predicted = trace.predicted_tokens[place.index], probability
    return TokenStream(
        place=place,
        token=tokens[place.index],
        predicted=predicted,
        steps=steps,
        limit=float(np.percentile(np.abs(every), _CLIPPED)),
        longest=max(
            length for step in steps for length in (step.total, step.after, step.added or 0.0)
        ),
    )


def _steps(
    trace: Trace, place: Place, stack: StackStates, row: int, scaled_by: int | None
) -> Iterator[Step]:
    embedded, positioned = stack.embedded[row], stack.positioned[row]
    position = positioned - embedded
    name = "embedding" if scaled_by is None else f"embedding × √{scaled_by}"
    whole = float(lengths(positioned))
    yield Step(
        title="Input",
        layer=None,
        sublayer=None,
        vectors=(
            _vector(name, embedded),
            _vector("+ position" if position.any() else "no position added", position),
            _vector("= sum", positioned),
        ),
        before=float(lengths(embedded)),
        added=float(lengths(position)),
        total=whole,
        after=whole,
        angle=float(angles(embedded, positioned)),
    )
    for number, layer in enumerate(stack.layers):
        for state in layer:
            yield _sublayer(trace, place, number, state, row)
    last = stack.layers[-1][-1].after[row]
    output = stack.output[row]
    if not np.array_equal(last, output):
        length = float(lengths(last))
        yield Step(
            title="Final norm",
            layer=None,
            sublayer=None,
            vectors=(_vector("norm", output),),
            before=length,
            added=None,
            total=length,
            after=float(lengths(output)),
            angle=float(angles(last, output)),
        )


def _sublayer(trace: Trace, place: Place, number: int, state: SublayerState, row: int) -> Step:
    before, after = state.before[row], state.after[row]
    added = _vector("+ adds", state.added[row])
    total = _vector("= sum", state.sum[row])
    normed = _vector("norm", state.normed[row])
    hidden = state.hidden[row]
    network = state.sublayer is Sublayer.FEED_FORWARD
    return Step(
        title=NAMES[state.sublayer],
        layer=number,
        sublayer=state.sublayer,
        vectors=(normed, added, total) if state.pre_norm else (added, total, normed),
        before=float(lengths(before)),
        added=added.length,
        total=total.length,
        after=float(lengths(after)),
        angle=float(angles(before, after)),
        sources=_units(hidden) if network else _heads(trace, place, number, state, hidden),
        active=(int((hidden > 0).sum()), len(hidden)) if network else None,
    )


def _units(hidden: Floats) -> tuple[Source, ...]:
    return tuple(
        Source(f"{unit.number + 1:,}", unit.activation) for unit in most_active(hidden, UNITS)
    )


def _heads(
    trace: Trace, place: Place, layer: int, state: SublayerState, hidden: Floats
) -> tuple[Source, ...]:
    """Every head that the layer has, with the length of its output."""
    kind = AttentionKind.ENCODER_SELF if place.side == "source" else AttentionKind.DECODER_SELF
    if state.sublayer is Sublayer.CROSS_ATTENTION:
        kind = AttentionKind.CROSS
    numbers = trace.heads(kind, layer) if kind in trace.kinds else ()
    if not numbers:
        return ()
    outputs = lengths(hidden.reshape(len(numbers), -1))
    return tuple(
        Source(f"{head + 1}", float(length), Head(kind, layer, head))
        for head, length in zip(numbers, outputs, strict=True)
    )


def _vector(name: str, values: Floats) -> Vector:
    return Vector(name, values, float(lengths(values)))
