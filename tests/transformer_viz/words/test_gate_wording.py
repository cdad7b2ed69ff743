"""Which heads are off, in words; the trace has two layers of three heads of each kind."""

import pytest

from core.heads import EVEN, Gate
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.state.gates import gates
from transformer_viz.words.gate_wording import describe_gates, gate_state

E, D, C = AttentionKind


def off(*heads: Head) -> dict[Head, float]:
    return dict.fromkeys(heads, 0.0)


def layer(kind: AttentionKind, number: int) -> dict[Head, float]:
    return off(*(Head(kind, number, head) for head in range(3)))


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ({}, ""),
        (off(Head(E, 1, 2)), "Encoder self 2.3 off"),
        (off(Head(C, 0, 0), Head(C, 1, 0)), "Cross 1.1, 2.1 off"),
        (off(Head(C, 1, 0), Head(C, 1, 2)), "Cross 2.2 isolated in its layer"),
        (layer(D, 1), "Decoder self layer 2 off"),
        (layer(C, 0) | layer(C, 1), "Cross layers 1, 2 off"),
        (
            dict.fromkeys(layer(D, 1), EVEN) | {Head(C, 0, 1): EVEN},
            "Decoder self layer 2 even · Cross 1.2 even",
        ),
        (layer(E, 0) | off(Head(E, 1, 1)), "Encoder self layer 1 off, 2.2 off"),
        ({Head(E, 0, 0): 0.5, Head(E, 0, 1): 2.0}, "Encoder self 1.1 ×0.5, 1.2 ×2"),
        (
            off(Head(E, 0, 0)) | {Head(E, 1, 0): 0.25} | off(Head(C, 1, 1)),
            "Encoder self 1.1 off, 2.1 ×0.25 · Cross 2.2 off",
        ),
    ],
)
def test_gates_in_words(trace: Trace, factors: dict[Head, Gate], said: str) -> None:
    assert describe_gates(gates(factors), trace) == said


def test_heads_that_the_trace_does_not_have_are_named_all_the_same(trace: Trace) -> None:
    assert describe_gates(off(Head(E, 7, 0), Head(E, 7, 1)), trace) == "Encoder self 8.1, 8.2 off"
    assert describe_gates(layer(E, 0), None) == "Encoder self 1.1, 1.2, 1.3 off"


def test_the_state_of_one_head() -> None:
    current = gates({Head(E, 0, 0): 0.0, Head(E, 0, 1): 0.5})
    states = [gate_state(current, Head(E, 0, head)) for head in range(3)]
    assert states == ["off", "×0.5", ""]


def test_all_heads_even_are_not_listed(trace: Trace) -> None:
    every = [head for kind in trace.kinds for head in trace.every_head(kind)]
    assert describe_gates(dict.fromkeys(every, EVEN), trace) == "All heads even"
    assert describe_gates(dict.fromkeys(every[1:], EVEN), trace).startswith("Encoder self layer 2")
