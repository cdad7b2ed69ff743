import numpy as np
import pytest

from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.lines import Line, Plot, Ticks

LINEAR, LOG, LOG_STEP = AxisScale


def line(x: list[float], y: list[float], **more: object) -> Line:
    return Line(np.array(x, float), np.array(y, float), "one", 0, **more)  # type: ignore[arg-type]


def test_all_points_fit_with_some_room_above_and_below() -> None:
    across, up = Plot((line([0, 10], [1, 3]), line([5, 20], [2, 5]))).range()
    assert across == (0, 20)
    assert up == pytest.approx((1 - 0.05 * 4, 5 + 0.05 * 4))


def test_the_line_before_smoothing_fits_too() -> None:
    _, (low, high) = Plot((line([0, 1], [2, 2], raw=np.array([0.0, 9.0])),)).range()
    assert low < 0
    assert high > 9


def test_values_with_limits_keep_them() -> None:
    assert Plot((line([0, 1], [0.4, 0.5]),), y_range=(0, 1)).range()[1] == (0, 1)


def test_places_on_logarithmic_axes_are_logarithms() -> None:
    plot = Plot((line([0, 99], [1, 100]),), x_scale=LOG_STEP, y_scale=LOG)
    across, up = plot.range()
    assert across == pytest.approx((0, 2))
    assert up == pytest.approx((-0.1, 2.1))


@pytest.mark.parametrize(("x", "y"), [([], []), ([3], [7]), ([1, 2], [5, 5]), ([1], [np.nan])])
def test_little_data_still_spans_a_range(x: list[float], y: list[float]) -> None:
    (left, right), (low, high) = Plot((line(x, y),), y_scale=LOG).range()
    assert left < right
    assert low < high


def test_a_row_of_names_gives_each_its_place() -> None:
    rows = (Ticks("words", ("0", "4", "8")),)
    assert Plot((line([0, 1, 2], [1, 1, 1]),), rows=rows).range()[0] == (-0.5, 2.5)


def test_a_value_is_read_off_at_the_closest_step() -> None:
    one = line([0, 1000, 2000], [5, 2.5, np.nan])
    assert one.reading(1000) == "2.5"
    assert one.reading(1400) == "2.5 at 1,000"
    assert one.reading(2000) == "–"
    assert line([], []).reading(1) == "–"


def test_every_x_of_every_line_is_a_step() -> None:
    assert list(Plot((line([0, 5], [1, 1]), line([3, 5], [1, 1]))).steps()) == [0, 3, 5]
    assert list(Plot().steps()) == []
