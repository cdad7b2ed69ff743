"""What one token of a text has to do with the others, across the three kinds of attention.

A target word is translated by the cross-attention of one decoder row; that row also looks back at
the translation, and the source words that it looks at have looked at each other in the encoder. A
source word is the same seen from the other side.

Legend: S source tokens, T target tokens, that is decoder rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.text.tokens import Token
from core.trace.heaviest import heaviest
from core.trace.trace import AttentionKind, Floats, Head, Trace
from transformer_viz.state.selection import Cell, Selection, Side, axes

MASS = 0.7
"""Of what a token looks at, the heaviest up to this share count as what it attends to."""

MOST_ATTENDED = 5
"""They are never more than this: where the weight is spread thinly, more rows say less."""

INLINE_CELLS = 512 * 512
"""Cross maps of so many cells together are read at once; larger ones beside the event loop."""


@dataclass(frozen=True, slots=True)
class Place:
    """A token of the text. On the target side the index is that of the decoder row that predicts
    it, as the chips of the translation count."""

    side: Side
    index: int


@dataclass(frozen=True, slots=True)
class Linked:
    """The tokens that a token attends to, and those that they attend to in turn.

    Attributes:
        place: the token itself.
        own: [S] or [T], its row of self-attention on its own side.
        across: [S] for a target token, its row of cross-attention; [T] for a source token, the
            weight that each decoder row puts on it.
        attended: the tokens of the other side that carry `MASS` of `across`, heaviest first, at
            most `MOST_ATTENDED`.
        onward: [S] or [T], the mean of the self-attention rows of the attended, by their weight.
    """

    place: Place
    own: Floats | None
    across: Floats | None
    attended: tuple[int, ...]
    onward: Floats | None

    def rows(self, kind: AttentionKind) -> tuple[int, ...]:
        """The rows of the maps of a kind that take part."""
        here, side = self.place, axes(kind)[0]
        return (here.index,) if side == here.side else self.attended


def linked(trace: Trace, selection: Selection, place: Place) -> Linked:
    """Follow a token through the heads of `followed_heads`.

    Costs a few rows per head, and for a source token one whole map of each cross head. Safe to
    run in any thread. Kinds that the trace lacks leave their part None.
    """

    def heads(kind: AttentionKind) -> tuple[Head, ...]:
        return followed_heads(trace, selection, kind)

    here, there = _SELF[place.side], _SELF[_OTHER[place.side]]
    own = _mean_rows(trace, heads(here), [place.index], [1.0])
    across = looked_across(trace, selection, place)
    attended = () if across is None else _attended(across)
    onward = None
    if across is not None and attended:
        onward = _mean_rows(trace, heads(there), attended, across[list(attended)])
    return Linked(place, own, across, attended, onward)


def looked_across(trace: Trace, selection: Selection, place: Place) -> Floats | None:
    """The part `across` of `linked` alone."""
    heads = followed_heads(trace, selection, AttentionKind.CROSS)
    if place.side == "target":
        return _mean_rows(trace, heads, [place.index], [1.0])
    if not heads:
        return None
    total = np.zeros(len(trace.target_tokens), np.float32)
    for head in heads:
        total += trace.weights(*head)[:, place.index]
    return total / np.float32(len(heads))


def is_quick(trace: Trace, selection: Selection, place: Place) -> bool:
    """Whether `linked` reads so few weights that the event loop need not wait for it."""
    source, target = len(trace.source_tokens), len(trace.target_tokens)
    rows = 1 if place.side == "target" else target
    heads = len(followed_heads(trace, selection, AttentionKind.CROSS))
    return heads * rows * source <= INLINE_CELLS


def followed_heads(trace: Trace, selection: Selection, kind: AttentionKind) -> tuple[Head, ...]:
    """The selected heads where they are of this kind, else all heads of its last layer."""
    if kind not in trace.kinds:
        return ()
    if kind is selection.kind:
        return selection.heads
    return last_layer(trace, kind)


def last_layer(trace: Trace, kind: AttentionKind) -> tuple[Head, ...]:
    """Return all heads of the last layer that has one."""
    every = trace.every_head(kind)
    return tuple(head for head in every if head.layer == every[-1].layer)


def source_shades(trace: Trace, linked: Linked) -> Floats:
    """How strongly each source token is lit, [S] in 0 … 1."""
    weights = linked.own if linked.place.side == "source" else linked.across
    return _nothing(trace.source_tokens) if weights is None else weights


def target_shades(trace: Trace, linked: Linked) -> Floats:
    """How strongly each decoder row is lit, [T] in 0 … 1: by the weight on the token that it
    predicts, or, when a source token is pointed at, by the weight that it puts there.

    Weight on the begin token, which no row predicts, is left out.
    """
    weights = linked.own if linked.place.side == "target" else linked.across
    if weights is None:
        return _nothing(trace.target_tokens)
    if linked.place.side == "source" or not trace.predicted_tokens:
        return weights
    return np.append(weights[1:], np.float32(0))


def place_of(trace: Trace, kind: AttentionKind, cell: Cell) -> Place | None:
    """The token that a cell of a map points at: its query, else its key."""
    (query, key), (query_side, key_side) = cell, axes(kind)
    if query is not None:
        return Place(query_side, query)
    if key is not None and key_side == "target" and trace.predicted_tokens:
        key = key - 1 if key > 0 else None
    return None if key is None else Place(key_side, key)


def cell_of(kind: AttentionKind, place: Place) -> Cell:
    """The row of a token in a map, else its column, else nothing."""
    query_side, key_side = axes(kind)
    if place.side == query_side:
        return place.index, None
    return (None, place.index) if place.side == key_side else (None, None)


def _nothing(tokens: Sequence[Token]) -> Floats:
    return np.zeros(len(tokens), np.float32)


_SELF = {"source": AttentionKind.ENCODER_SELF, "target": AttentionKind.DECODER_SELF}
_OTHER: dict[str, Side] = {"source": "target", "target": "source"}


def _attended(across: Floats) -> tuple[int, ...]:
    chosen = heaviest(across, MASS)
    order = np.argsort(-across, kind="stable")[:MOST_ATTENDED]
    return tuple(int(index) for index in order if chosen[index])


def _mean_rows(
    trace: Trace, heads: Sequence[Head], rows: Sequence[int], shares: Sequence[float] | Floats
) -> Floats | None:
    """The mean over heads of the rows, weighted by their shares; None without heads."""
    if not heads:
        return None
    parts = [np.stack([trace.row(*head, row) for head in heads]).mean(axis=0) for row in rows]
    mean: Floats = np.average(parts, axis=0, weights=shares).astype(np.float32)
    return mean
