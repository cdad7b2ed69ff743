"""How the window says which heads are off or scaled."""

from collections.abc import Iterator

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.gate_marks import gate_text
from transformer_viz.state.gates import Gates
from transformer_viz.words.titles import TITLES
from transformer_viz.words.wording import head_numbers


def gate_state(gates: Gates, head: Head) -> str:
    """Return "off" or "×0.5"; "" for a head that is on."""
    factor = gates.get(head, 1.0)
    return "" if factor == 1 else "off" if factor == 0 else gate_text(factor)


def describe_gates(gates: Gates, trace: Trace | None) -> str:
    """Describe gates: "Encoder self 2.1, 2.2 off, 3.4 ×0.5 · Cross layers 1, 2 off, 3.1 isolated in
    its layer"; heads are layer and head, counted from 1."""
    return " · ".join(
        f"{TITLES[kind]} {', '.join(parts)}"
        for kind in AttentionKind
        if (parts := list(_parts(gates, kind, trace)))
    )


def _parts(gates: Gates, kind: AttentionKind, trace: Trace | None) -> Iterator[str]:
    """Of one kind: layers that are off, heads that are alone or off, then what is scaled."""
    off = [head for head in gates if head.kind is kind and gates[head] == 0]
    names: list[str] = []
    alone: list[Head] = []
    whole: list[int] = []  # layers
    for layer in sorted({head.layer for head in off}):
        silent = [head for head in off if head.layer == layer]
        left = _left(trace, kind, layer, silent)
        if left is None or len(left) > 1 or len(silent) == 1:
            names += [head_numbers(head) for head in silent]
        elif left:
            alone += left
        else:
            whole.append(layer)
    if whole:
        numbers = ", ".join(str(layer + 1) for layer in whole)
        yield f"layer{'s' * (len(whole) > 1)} {numbers} off"
    for head in alone:
        yield f"{head_numbers(head)} isolated in its layer"
    if names:
        yield f"{', '.join(names)} off"
    for head, factor in gates.items():
        if head.kind is kind and factor != 0:
            yield f"{head_numbers(head)} {gate_text(factor)}"


def _left(
    trace: Trace | None, kind: AttentionKind, layer: int, silent: list[Head]
) -> list[Head] | None:
    """The heads of the layer that are not silent; None where the trace has no such layer."""
    if trace is None or kind not in trace.kinds or layer >= trace.layers(kind):
        return None
    every = (Head(kind, layer, number) for number in trace.heads(kind, layer))
    return [head for head in every if head not in silent]
