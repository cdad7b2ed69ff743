from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UserError
from core.heads import (
    EVEN,
    AttentionKind,
    Gate,
    Head,
    others_of_layer,
    read_code,
    read_gate,
    read_head,
    write_gate,
)

numbers = st.integers(0, 999)
heads = st.builds(Head, st.sampled_from(AttentionKind), numbers, numbers)


@given(heads)
def test_name_and_code_of_a_head_are_read_back(head: Head) -> None:
    assert read_head(head.name) == read_head(head.code) == read_code(head.code) == head


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (AttentionKind.ENCODER_SELF, "encoder:4.1", "encoder_self.3.0"),
        (AttentionKind.DECODER_SELF, "decoder:4.1", "decoder_self.3.0"),
        (AttentionKind.CROSS, "cross:4.1", "cross.3.0"),
    ],
)
def test_names_count_from_1_and_codes_from_0(kind: AttentionKind, name: str, code: str) -> None:
    head = Head(kind, 3, 0)
    assert (head.name, head.code) == (name, code)
    assert read_head(f"{kind}:4.1") == head


@pytest.mark.parametrize(
    "text",
    [
        *("", "cross", "cross.1", "cross.1.2.3", "cross.-1.0", "self.0.0"),
        *(
            "encoder.4.1",
            "encoder:4",
            "encoder:0.1",
            "cross:1.0",
            "cross:1.2.3",
            "cross:1,2",
            ":1.1",
        ),
        *(":1.1", "cross:٣.١", "cross:1." + "9" * 5_000),
    ],
)
def test_what_names_no_head_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"counted from 1, as in cross:4\.1"):
        read_head(text)


def test_files_hold_codes_only() -> None:
    with pytest.raises(UserError, match="not the code of a head"):
        read_code("cross:4.1")


@given(heads, st.floats(allow_nan=False, allow_infinity=False) | st.just(EVEN))
def test_a_gate_is_read_back(head: Head, gate: Gate) -> None:
    assert read_gate(write_gate(head, gate)) == (head, gate)


def test_without_a_factor_a_gate_is_off() -> None:
    assert read_gate("cross.3.0") == (Head(AttentionKind.CROSS, 3, 0), 0.0)
    assert read_gate("cross:4.1=0.5") == (Head(AttentionKind.CROSS, 3, 0), 0.5)


@pytest.mark.parametrize("factor", ["", "half", "nan", "-inf", "1e999", "0=1"])
def test_a_factor_is_a_finite_number(factor: str) -> None:
    with pytest.raises(UserError, match="neither a finite number nor"):
        read_gate(f"cross.3.0={factor}")


def test_a_head_is_not_beside_itself() -> None:
    head = Head(AttentionKind.ENCODER_SELF, 1, 2)
    assert others_of_layer(head, (0, 2, 5)) == (head._replace(head=0), head._replace(head=5))
