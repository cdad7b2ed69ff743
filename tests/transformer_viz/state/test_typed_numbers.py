"""One reading of typed numbers: both decimal marks, groups, and a refusal of everything else."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from core.errors import UserError
from transformer_viz.state.typed_numbers import read_decimal, read_whole

LOCALES = [
    QLocale(QLocale.Language.English, QLocale.Country.UnitedStates),
    QLocale(QLocale.Language.German, QLocale.Country.Germany),
    QLocale(QLocale.Language.German, QLocale.Country.Switzerland),
    QLocale(QLocale.Language.French, QLocale.Country.France),
    QLocale.c(),
]
locales = st.sampled_from(LOCALES)


@pytest.mark.parametrize("text", ["0,8", "0.8", ",8", ".8", " 0,80 ", "+0.8", "8e-1", "8,0e-1"])
def test_a_decimal_point_and_a_decimal_comma_are_the_same(text: str) -> None:
    assert read_decimal(text) == 0.8


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,5", 1.5),
        ("1.500", 1.5),  # a lone point is the one that the window writes
        ("0,125", 0.125),  # no group begins with a zero
        ("1500,125", 1500.125),  # a group has no more than three digits
        ("1,500.5", 1500.5),
        ("1.500,5", 1500.5),
        ("1\u202f500,5", 1500.5),
        ("1’500.5", 1500.5),
        ("1,500,000", 1_500_000.0),
        ("−2,5", -2.5),
    ],
)
def test_groups_and_decimals_are_told_apart(text: str, value: float) -> None:
    assert read_decimal(text) == value


def test_a_comma_before_three_digits_is_what_the_bounds_allow() -> None:
    assert read_decimal("1,500", 0, 2) == 1.5
    assert read_decimal("1,500", 100, 2000) == 1500
    with pytest.raises(UserError, match=r"“1,500” can be read in two ways; type 1\.5 or 1500"):
        read_decimal("1,500")
    assert read_decimal("3,500", 0, 2) == 3.5  # outside both ways: for the field to refuse


@pytest.mark.parametrize(
    ("text", "value"),
    [("1500", 1500), ("1,500", 1500), ("1.500", 1500), ("1 500", 1500), ("1_000_000", 10**6)],
)
def test_a_whole_number_may_be_grouped(text: str, value: int) -> None:
    assert read_whole(text) == value


@pytest.mark.parametrize("text", ["1,5", "1.5", "1,50", "2.0", "1,500.5", "1e3", "0,500"])
def test_decimals_are_no_whole_number(text: str) -> None:
    with pytest.raises(UserError, match=f"“{re.escape(text)}” is not a whole number"):
        read_whole(text)


@pytest.mark.parametrize(
    "text",
    [
        *("x", "0,8x", "1,2,3", "1..2", "0,8,", "1,50,000", "1,500.000,5", "--1", ".", ","),
        *("inf", "nan", "Infinity", "1e999", "0x10", "٣", "true", "null", "1 5", "9" * 5000),
    ],
)
def test_what_is_no_number_is_refused(text: str) -> None:
    for read in (read_decimal, read_whole):
        with pytest.raises(UserError, match=r"is not a (whole )?number") as caught:
            read(text)
        assert len(str(caught.value)) < 80


def test_nothing_is_no_number() -> None:
    for read in (read_decimal, read_whole):
        with pytest.raises(UserError, match="Type a number"):
            read(" ")


@given(st.integers(-(10**9), 10**9), locales)
def test_whole_numbers_are_read_as_each_locale_writes_them(value: int, locale: QLocale) -> None:
    assert read_whole(locale.toString(value)) == value


@given(st.floats(-1e6, 1e6), st.sampled_from([1, 2, 4, 6]), locales)
def test_decimals_are_read_as_each_locale_writes_them(
    value: float, places: int, locale: QLocale
) -> None:
    """But three places, with which a comma could be a group's."""
    expected = round(value, places)
    assert read_decimal(locale.toString(value, "f", places)) == pytest.approx(expected, abs=1e-9)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_back(value: float) -> None:
    assert read_decimal(repr(value)) == value


@given(st.text(alphabet="0123456789.,-+eE '_x", max_size=12))
def test_any_text_is_a_finite_number_or_refused(text: str) -> None:
    """And a number of digits never loses one of them, as Qt's own reading does."""
    try:
        value = read_decimal(text)
    except UserError:
        return
    assert math.isfinite(value)
    if value == 0:
        assert not re.search("[1-9]", re.split("[eE]", text)[0]) or "e-" in text.lower()
