"""What is selected in a trace: heads of one kind, and pinned cells. Pure values, no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Head, Trace

Side = Literal["source", "target"]

Cell = tuple[int | None, int | None]
"""Query and key; one of them alone is a whole row or column."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The current head and the current pinned cell, and what is selected beside them.

    Attributes:
        query, key: the current pin; `query` alone pins a row, `key` alone a column.
        others: (layer, head) of the further heads selected, all of `kind`, ascending.
        pins: further pinned cells, in the order in which they were pinned.
    """

    kind: AttentionKind = AttentionKind.ENCODER_SELF
    layer: int = 0
    head: int = 0
    query: int | None = None
    key: int | None = None
    others: tuple[tuple[int, int], ...] = ()
    pins: tuple[Cell, ...] = ()

    @property
    def primary(self) -> Head:
        return Head(self.kind, self.layer, self.head)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Every selected head in reading order, the current one among them."""
        return tuple(
            Head(self.kind, *one) for one in sorted({(self.layer, self.head), *self.others})
        )

    @property
    def pinned(self) -> tuple[Cell, ...]:
        """Every pinned cell, the current one last."""
        current = (self.query, self.key)
        return self.pins if current == (None, None) else (*self.pins, current)


def changed(selection: Selection, **changes: object) -> Selection:
    """The selection with other fields; what these make meaningless is dropped.

    Another current head ends a selection of several, and another kind drops the pins on an axis
    that then names other tokens, unless the same call sets these fields.
    """
    kind = changes.get("kind", selection.kind)
    assert isinstance(kind, AttentionKind)
    before, after = axes(selection.kind), axes(kind)
    for pin, old, new in zip(("query", "key"), before, after, strict=True):
        if old != new:
            changes.setdefault(pin, None)
    if before != after:
        changes.setdefault("pins", ())
    result = replace(selection, **changes)  # type: ignore[arg-type]
    if "others" not in changes and result.primary != selection.primary:
        result = replace(result, others=())
    return result


def clamped(selection: Selection, trace: Trace) -> Selection:
    """The nearest selection that exists in the trace."""
    if not trace.kinds:
        return selection
    kind = selection.kind if selection.kind in trace.kinds else trace.kinds[0]
    if axes(kind) != axes(selection.kind):
        selection = replace(selection, query=None, key=None, pins=())
    _, layer, head = trace.nearest(Head(kind, selection.layer, selection.head))
    queries, keys = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
    others = {one for one in selection.others if trace.has(Head(kind, *one))}
    return Selection(
        kind=kind,
        layer=layer,
        head=head,
        query=_clamp_pin(selection.query, queries),
        key=_clamp_pin(selection.key, keys),
        others=tuple(sorted(others - {(layer, head)})),
        pins=tuple(
            (query, key)
            for query, key in selection.pins
            if (query is None or query < queries) and (key is None or key < keys)
        ),
    )


def carried(selection: Selection, old: Trace, new: Trace) -> Selection:
    """The selection with its pins moved from the tokens of one trace to those of the next."""
    kind = selection.kind
    if kind not in old.kinds or kind not in new.kinds:
        return selection

    def moved(cell: Cell) -> Cell:
        query, key = cell
        return (
            _same_token(query, old.query_tokens(kind), new.query_tokens(kind)),
            _same_token(key, old.key_tokens(kind), new.key_tokens(kind)),
        )

    query, key = moved((selection.query, selection.key))
    pins = tuple(now for cell in selection.pins if _as_whole(now := moved(cell), cell))
    return replace(selection, query=query, key=key, pins=pins)


def _as_whole(cell: Cell, before: Cell) -> bool:
    """Whether a moved pin still names all that it named."""
    return all((a is None) == (b is None) for a, b in zip(cell, before, strict=True))


def axes(kind: AttentionKind) -> tuple[Side, Side]:
    """The sides whose tokens are the queries and the keys."""
    query: Side = "source" if kind is AttentionKind.ENCODER_SELF else "target"
    key: Side = "target" if kind is AttentionKind.DECODER_SELF else "source"
    return query, key


def _clamp(index: int, count: int) -> int:
    return max(0, min(index, count - 1))


def _clamp_pin(index: int | None, count: int) -> int | None:
    return None if index is None or count == 0 else _clamp(index, count)


def _same_token(index: int | None, old: Sequence[Token], new: Sequence[Token]) -> int | None:
    """Where the token at `index` is after an edit: counted from the start, else from the end."""
    if index is None:
        return None
    for moved in (index, index - len(old) + len(new)):
        if 0 <= moved < len(new) and new[moved].piece == old[index].piece:
            return moved
    return None
