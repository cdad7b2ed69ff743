"""How the window says what is done to the model on purpose."""

from collections.abc import Iterator

from core.heads import EVEN
from core.switches import Scaling, Switches
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.gate_marks import gate_text
from transformer_viz.state.gates import Gates
from transformer_viz.words.titles import TITLES
from transformer_viz.words.wording import head_numbers


def gate_state(gates: Gates, head: Head) -> str:
    """Return "off", "even" or "×0.5"; "" for a head that is on."""
    gate = gates.get(head, 1.0)
    return "" if gate == 1 else "off" if gate == 0 else gate_text(gate)


_SCALINGS = {
    Scaling.OFF: "Scaling off: softmax(q · k)",
    Scaling.TWICE: "Scaling twice: softmax(q · k / d_k)",
}


def describe_changes(gates: Gates, switches: Switches, trace: Trace | None) -> str:
    """Describe switches and gates: "Decoder mask off · Encoder self 2.1 even"."""
    parts = [
        _SCALINGS.get(switches.scaling, ""),
        "" if switches.mask else "Decoder mask off",
        describe_gates(gates, trace),
    ]
    return " · ".join(filter(None, parts))


def describe_gates(gates: Gates, trace: Trace | None) -> str:
    """Describe gates: "Encoder self 2.1, 2.2 off, 3.4 ×0.5 · Cross layers 1, 2 off, 3.1 isolated in
    its layer · Decoder self layer 1 even"; heads are layer and head, counted from 1."""
    if _is_every_head_even(gates, trace):
        return "All heads even"
    return " · ".join(
        f"{TITLES[kind]} {', '.join(parts)}"
        for kind in AttentionKind
        if (parts := list(_parts(gates, kind, trace)))
    )


def _is_every_head_even(gates: Gates, trace: Trace | None) -> bool:
    if trace is None or not trace.kinds:
        return False
    every = (head for kind in trace.kinds for head in trace.every_head(kind))
    return all(gates.get(head) == EVEN for head in every)


def _parts(gates: Gates, kind: AttentionKind, trace: Trace | None) -> Iterator[str]:
    """Of one kind: layers that are off, heads that are alone or off, what is even, then what is
    scaled."""
    off = [head for head in gates if head.kind is kind and gates[head] == 0]
    names: list[str] = []
    alone: list[Head] = []
    whole: list[int] = []  # layers
    for layer, silent, left in _layers(off, trace):
        if left is None or len(left) > 1 or len(silent) == 1:
            names += [head_numbers(head) for head in silent]
        elif left:
            alone += left
        else:
            whole.append(layer)
    yield from _named(whole, [], "off")
    for head in alone:
        yield f"{head_numbers(head)} isolated in its layer"
    yield from _named([], names, "off")
    even = [head for head in gates if head.kind is kind and gates[head] == EVEN]
    full = [layer for layer, some, left in _layers(even, trace) if left == [] and len(some) > 1]
    yield from _named(full, [head_numbers(head) for head in even if head.layer not in full], "even")
    for head, gate in gates.items():
        if head.kind is kind and gate not in (0, EVEN):
            yield f"{head_numbers(head)} {gate_text(gate)}"


def _named(layers: list[int], heads: list[str], state: str) -> Iterator[str]:
    if layers:
        numbers = ", ".join(str(layer + 1) for layer in layers)
        yield f"layer{'s' * (len(layers) > 1)} {numbers} {state}"
    if heads:
        yield f"{', '.join(heads)} {state}"


def _layers(
    heads: list[Head], trace: Trace | None
) -> Iterator[tuple[int, list[Head], list[Head] | None]]:
    """Yield each layer that these heads of one kind are in, those that are in it, and the layer's
    other heads, or None where the trace has no such layer."""
    for layer in sorted({head.layer for head in heads}):
        some = [head for head in heads if head.layer == layer]
        kind = some[0].kind
        if trace is None or kind not in trace.kinds or layer >= trace.layers(kind):
            yield layer, some, None
        else:
            every = (Head(kind, layer, number) for number in trace.heads(kind, layer))
            yield layer, some, [head for head in every if head not in some]
