import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.drawing.numbers import share, signed


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "1.23"), (-1.236, "−1.24"), (-0.001, "0.00"), (0.0, "0.00")]
)
def test_signed_numbers(value: float, text: str) -> None:
    assert signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.0, "1.000"), (0.1234, "0.123"), (0.0004, "4·10⁻⁴"), (3e-15, "3·10⁻¹⁵")],
)
def test_shares(value: float, text: str) -> None:
    assert share(value) == text


@given(st.floats(1e-300, 1))
def test_what_is_not_zero_never_reads_as_zero(value: float) -> None:
    assert share(value) not in ("0", "0.000")
