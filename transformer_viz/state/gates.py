"""What is done to each head: a factor on its output, or `EVEN`. Pure values.

Gates name only the heads that are not on, which is the factor 1; no gates is the model as it was
trained.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from core.heads import EVEN, AttentionKind, Gate, Head
from core.trace.trace import Trace

Gates: TypeAlias = Mapping[Head, Gate]

ALL_ON: Gates = MappingProxyType({})
STRONGEST = 2.0
"""The largest factor that can be set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedGate:
    """A head that is not on, as a file holds it; `factor` may be `EVEN`."""

    kind: AttentionKind
    layer: int
    head: int
    factor: Gate


def saved_gates(current: Gates) -> tuple[SavedGate, ...]:
    """The gates for a file."""
    return tuple(
        SavedGate(kind=head.kind, layer=head.layer, head=head.head, factor=factor)
        for head, factor in current.items()
    )


def restored_gates(saved: Iterable[SavedGate]) -> Gates:
    """The gates from a file."""
    return gates({Head(one.kind, one.layer, one.head): one.factor for one in saved})


def gates(factors: Gates) -> Gates:
    """Return these factors in reading order, without those that change nothing."""
    order = {kind: place for place, kind in enumerate(AttentionKind)}
    heads = sorted(factors, key=lambda head: (order[head.kind], head.layer, head.head))
    return MappingProxyType({head: factors[head] for head in heads if factors[head] != 1})


def scaled(before: Gates, heads: Iterable[Head], gate: Gate) -> Gates:
    """The heads with this gate, all others as before."""
    return gates({**before, **dict.fromkeys(heads, gate)})


def switched(before: Gates, heads: Iterable[Head]) -> Gates:
    """The heads off, or on again if all of them are off."""
    heads = list(heads)
    return scaled(before, heads, 1.0 if all(before.get(head) == 0 for head in heads) else 0.0)


def evened(before: Gates, heads: Iterable[Head]) -> Gates:
    """The heads even, or on again if all of them are even."""
    heads = list(heads)
    return scaled(before, heads, 1.0 if all(before.get(head) == EVEN for head in heads) else EVEN)


def alone(before: Gates, heads: Iterable[Head], trace: Trace) -> Gates:
    """The heads on and all others of their layers and kind off, or these layers all on again if
    that is how they are (Michel et al. 2019, section 3.3)."""
    heads = list(heads)
    if is_alone(before, heads, trace):
        return scaled(before, _layers(heads, trace), 1.0)
    silent = scaled(before, _layers(heads, trace), 0.0)
    return scaled(silent, heads, 1.0)


def is_alone(current: Gates, heads: Iterable[Head], trace: Trace) -> bool:
    """Whether these are on and their layers have others, all of which are off."""
    heads = set(heads)
    others = _layers(heads, trace) - heads
    return (
        bool(others)
        and all(current.get(head) == 0 for head in others)
        and not any(head in current for head in heads)
    )


def _layers(heads: Iterable[Head], trace: Trace) -> set[Head]:
    """All heads of the layers that these are in, each of its kind."""
    return {
        Head(head.kind, head.layer, number)
        for head in heads
        for number in trace.heads(head.kind, head.layer)
    }


def silenced(current: Gates) -> tuple[Head, ...]:
    """The heads that are off."""
    return tuple(head for head, factor in current.items() if factor == 0)
