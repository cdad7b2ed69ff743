from collections.abc import Callable

import pytest

from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.state.gates import ALL_ON, alone, gates, scaled, silenced, switched

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
A, B = Head(E, 0, 1), Head(C, 1, 0)


def test_only_what_changes_something_is_kept_in_reading_order() -> None:
    made = gates({B: 0.5, Head(D, 0, 0): 1.0, A: 0.0})
    assert list(made.items()) == [(A, 0.0), (B, 0.5)]
    assert silenced(made) == (A,)


def test_a_head_is_switched_off_and_on_again() -> None:
    off = switched(ALL_ON, [A])
    assert off == {A: 0.0}
    assert switched(off, [A]) == ALL_ON


def test_several_heads_are_all_off_before_they_are_on_again() -> None:
    both = switched(gates({A: 0.0, B: 0.3}), [A, B])
    assert both == {A: 0.0, B: 0.0}
    assert switched(both, [A, B]) == ALL_ON


def test_a_factor_of_one_is_no_gate() -> None:
    assert scaled(gates({A: 0.0}), [A], 1.0) == ALL_ON
    assert scaled(gates({A: 0.0}), [B], 0.25) == {A: 0.0, B: 0.25}


def test_alone_silences_the_others_of_the_layer_only(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(encoder=(3, 2), decoder=(2, 2, 2))
    before = gates({B: 0.5, A: 0.5})
    only = alone(before, [A], trace)
    assert only == {Head(E, 0, 0): 0.0, Head(E, 0, 2): 0.0, B: 0.5}
    assert alone(only, [A], trace) == {B: 0.5}


def test_two_heads_are_alone_together(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(encoder=(3, 2))
    assert alone(ALL_ON, [A, Head(E, 0, 2)], trace) == {Head(E, 0, 0): 0.0}
    across = alone(ALL_ON, [A, Head(E, 1, 0)], trace)
    assert across == {Head(E, 0, 0): 0.0, Head(E, 0, 2): 0.0, Head(E, 1, 1): 0.0}


def test_gates_cannot_be_changed_in_place() -> None:
    with pytest.raises(TypeError):
        gates({A: 0.0})[A] = 1.0  # type: ignore[index]
