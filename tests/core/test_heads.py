from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UserError
from core.heads import AttentionKind, Head, others_of_layer, read_gate, read_head, write_gate

numbers = st.integers(0, 999)
heads = st.builds(Head, st.sampled_from(AttentionKind), numbers, numbers)


@given(heads)
def test_the_code_of_a_head_is_read_back(head: Head) -> None:
    assert read_head(head.code) == head


def test_a_code_is_kind_layer_head() -> None:
    assert Head(AttentionKind.CROSS, 3, 0).code == "cross.3.0"


@pytest.mark.parametrize("code", ["", "cross", "cross.1", "cross.1.2.3", "cross.-1.0", "self.0.0"])
def test_what_names_no_head_is_refused(code: str) -> None:
    with pytest.raises(UserError, match=r"cross\.3\.0 for example"):
        read_head(code)


@given(heads, st.floats(allow_nan=False, allow_infinity=False))
def test_a_gate_is_read_back(head: Head, factor: float) -> None:
    assert read_gate(write_gate(head, factor)) == (head, factor)


def test_without_a_factor_a_gate_is_off() -> None:
    assert read_gate("cross.3.0") == (Head(AttentionKind.CROSS, 3, 0), 0.0)


@pytest.mark.parametrize("factor", ["", "half", "nan", "-inf", "1e999", "0=1"])
def test_a_factor_is_a_finite_number(factor: str) -> None:
    with pytest.raises(UserError, match="not a finite number"):
        read_gate(f"cross.3.0={factor}")


def test_a_head_is_not_beside_itself() -> None:
    head = Head(AttentionKind.ENCODER_SELF, 1, 2)
    assert others_of_layer(head, (0, 2, 5)) == (head._replace(head=0), head._replace(head=5))
