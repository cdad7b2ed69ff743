import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.drawing.axis import AxisScale, places, tick_texts, ticks, value_at
from transformer_viz.drawing.numbers import compact


@given(st.sampled_from(AxisScale), st.floats(1e-6, 1e6))
def test_a_value_lies_where_it_is_read_off(scale: AxisScale, value: float) -> None:
    assert value_at(float(places(value, scale)), scale) == pytest.approx(value, rel=1e-6)


def test_a_logarithm_has_no_place_for_what_is_not_positive() -> None:
    assert np.isnan(places([0.0, -1.0], AxisScale.LOG)).all()
    assert places(0.0, AxisScale.LOG_STEP) == 0


@given(
    st.sampled_from(AxisScale),
    st.floats(0.01, 1e5),
    st.floats(1.01, 1e6),
    st.integers(3, 12),
)
def test_ticks_are_few_and_inside(scale: AxisScale, first: float, ratio: float, most: int) -> None:
    low, high = (float(places(value, scale)) for value in (first, first * ratio))
    found = ticks(low, high, scale, most)
    assert len(found) <= most + 1
    assert found == sorted(found)
    tolerance = 1e-6 * first * ratio
    assert all(first - tolerance <= value <= first * ratio + tolerance for value in found)


@pytest.mark.parametrize(
    ("low", "high", "scale", "most", "found"),
    [
        (0, 10, AxisScale.LINEAR, 5, [0, 2, 4, 6, 8, 10]),
        (0.9, 8.2, AxisScale.LINEAR, 8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (0, 4, AxisScale.LOG, 5, [1, 10, 100, 1000, 10000]),
        (-7, -3, AxisScale.LOG, 3, [1e-6, 1e-4]),
        (0, 3, AxisScale.LOG_STEP, 5, [0, 1, 10, 100]),
        (0, 3.01, AxisScale.LOG_STEP, 4, [1, 10, 100, 1000]),
        (0.1, 0.4, AxisScale.LOG, 4, [1.5, 2, 2.5]),
    ],
)
def test_ticks_are_round(
    low: float, high: float, scale: AxisScale, most: int, found: list[float]
) -> None:
    assert ticks(low, high, scale, most) == pytest.approx(found)


def test_steps_have_no_fractions() -> None:
    assert ticks(10, 12.5, AxisScale.LINEAR, 10, least=1) == [10, 11, 12]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0, 0.5, 1.0], ["0.0", "0.5", "1.0"]),
        ([-1.0, 0.0, 1.0], ["−1", "0", "1"]),
        ([0.0, 5000.0, 10000.0], ["0", "5,000", "10,000"]),
        ([1e-5, 1e-3, 0.1], ["1·10⁻⁵", "0.001", "0.1"]),
    ],
)
def test_ticks_in_words(values: list[float], texts: list[str]) -> None:
    assert tick_texts(values) == texts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (15000, "15,000"), (2.13456, "2.135"), (-0.5, "−0.5")),
        *((3.4e-4, "3.4·10⁻⁴"), (1e-6, "1·10⁻⁶"), (2.5e7, "2.5·10⁷")),
    ],
)
def test_numbers_in_four_digits(value: float, text: str) -> None:
    assert compact(value) == text
