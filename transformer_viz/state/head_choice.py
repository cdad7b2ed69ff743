"""Which heads a click or a key selects, as changes of the session's selection. Pure values.

`order`: heads as they are displayed, in reading order.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from core.trace.trace import Head
from transformer_viz.state.selection import Selection


def only(heads: Sequence[Head], selection: Selection) -> dict[str, Any]:
    """Select these heads, all of one kind; the current one stays if it is among them."""
    return _changes(heads, selection.primary if selection.primary in heads else heads[0])


def toggled(heads: Sequence[Head], selection: Selection) -> dict[str, Any]:
    """Add these heads to the selection, the last of them as the current one; or, if all of them are
    selected, take them out of it. What is left is never empty, and heads of another kind start a
    selection of their own."""
    if heads[0].kind is not selection.kind:
        return only(heads, selection)
    selected = selection.heads
    if not set(heads) <= set(selected):
        return _changes({*selected, *heads}, heads[-1])
    rest = [head for head in selected if head not in heads]
    return only(rest or selected, selection)


def extended(order: Sequence[Head], end: Head, selection: Selection) -> dict[str, Any]:
    """The heads from the current one, which stays, to `end`; of another kind, `end` alone."""
    kind = [head for head in order if head.kind is selection.kind]
    if end not in kind:
        return only([end], selection)
    low, high = sorted((kind.index(selection.primary), kind.index(end)))
    return only(kind[low : high + 1], selection)


def _changes(heads: Iterable[Head], current: Head) -> dict[str, Any]:
    others = tuple((head.layer, head.head) for head in sorted(heads) if head != current)
    return {"kind": current.kind, "layer": current.layer, "head": current.head, "others": others}
