import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.chart import draw_chart, draw_reading, reading
from transformer_viz.drawing.chart_layout import (
    Line,
    Mark,
    Window,
    fitted,
    lay_out_chart,
    thinned,
)
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.theme import DARK, LIGHT, Theme

LINEAR, LOG, LOG_STEP = AxisScale


def line(x: list[float], y: list[float], **more: object) -> Line:
    return Line(np.array(x, float), np.array(y, float), "one", 0, **more)  # type: ignore[arg-type]


def test_all_points_fit_with_some_room_above_and_below() -> None:
    window = fitted([line([0, 10], [1, 3]), line([5, 20], [2, 5])], LINEAR, LINEAR)
    assert (window.left, window.right) == (0, 20)
    assert window.bottom == pytest.approx(1 - 0.05 * 4)
    assert window.top == pytest.approx(5 + 0.05 * 4)


def test_the_line_before_smoothing_fits_too() -> None:
    window = fitted([line([0, 1], [2, 2], raw=np.array([0.0, 9.0]))], LINEAR, LINEAR)
    assert window.bottom < 0
    assert window.top > 9


def test_values_with_limits_keep_them() -> None:
    window = fitted([line([0, 1], [0.4, 0.5])], LINEAR, LINEAR, (0, 1))
    assert (window.bottom, window.top) == (0, 1)


@pytest.mark.parametrize(("x", "y"), [([], []), ([3], [7]), ([1, 2], [5, 5]), ([1], [np.nan])])
def test_little_data_still_spans_a_window(x: list[float], y: list[float]) -> None:
    window = fitted([line(x, y)], LINEAR, LOG)
    assert window.left < window.right
    assert window.bottom < window.top


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.2, 5))
def test_zooming_keeps_what_is_under_the_pointer(x: float, y: float, factor: float) -> None:
    window = Window(LINEAR, LINEAR, 2, 12, -1, 1)
    zoomed = window.zoomed(factor, 1, x, y)
    assert zoomed.right - zoomed.left == pytest.approx(10 / factor)
    assert zoomed.left + x * (zoomed.right - zoomed.left) == pytest.approx(2 + 10 * x)
    assert (zoomed.bottom, zoomed.top) == pytest.approx((-1, 1))


def test_moving_keeps_the_size() -> None:
    moved = Window(LINEAR, LINEAR, 0, 10, 0, 2).moved(0.1, -0.5)
    assert (moved.left, moved.right, moved.bottom, moved.top) == (1, 11, -1, 1)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=400), st.floats(0.01, 2))
def test_thinning_loses_no_peak(heights: list[float], pitch: float) -> None:
    y = np.array(heights)
    x = np.arange(len(y)) * pitch
    few_x, few_y = thinned(x, y)
    columns = len(np.unique(np.floor(x)))
    assert len(few_x) == len(few_y) <= max(4 * columns, 1)
    assert (np.diff(few_x) >= 0).all()
    for column in np.unique(np.floor(x)):
        inside, kept = y[np.floor(x) == column], few_y[np.floor(few_x) == column]
        assert (kept.min(), kept.max()) == (inside.min(), inside.max())
        assert (kept[0], kept[-1]) == (inside[0], inside[-1])


def test_a_value_is_read_off_at_the_closest_step() -> None:
    one = line([0, 1000, 2000], [5, 2.5, np.nan])
    assert reading(one, 1000) == "2.5"
    assert reading(one, 1400) == "2.5 at 1,000"
    assert reading(one, 2000) == "–"
    assert reading(line([], []), 1) == "–"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("scales", [(LINEAR, LINEAR), (LOG_STEP, LOG)])
def test_a_line_goes_through_its_points(
    qapp: QApplication, theme: Theme, scales: tuple[AxisScale, AxisScale]
) -> None:
    lines = [line([0, 10, 100], [1, 2, 4])]
    window = fitted(lines, *scales)
    layout = lay_out_chart(QRectF(0, 0, 400, 240), lines, QFont())
    image = QImage(400, 240, QImage.Format.Format_RGB32)
    image.fill(theme.color("paper"))
    with QPainter(image) as painter:
        draw_chart(painter, lines, window, layout, theme, QFont())
        draw_reading(painter, lines, window, layout, theme, QFont(), 100)
    middle_x = float(layout.x(np.log10(11) if scales[0] is LOG_STEP else 10, window))
    middle_y = float(layout.y(np.log10(2) if scales[1] is LOG else 2, window))
    drawn = image.pixelColor(int(middle_x), int(middle_y))
    wanted = head_color(theme, 0)
    assert max(abs(a - b) for a, b in zip(drawn.getRgb(), wanted.getRgb(), strict=True)) < 60


def test_a_point_has_its_shares_of_the_plot(qapp: QApplication) -> None:
    layout = lay_out_chart(QRectF(0, 0, 400, 240), [], QFont())
    assert layout.shares(layout.plot.bottomLeft()) == pytest.approx((0, 0))
    assert layout.shares(QPointF(layout.plot.topRight())) == pytest.approx((1, 1))


def test_marks_are_drawn_only_inside(qapp: QApplication) -> None:
    lines = [line([0, 10], [0, 1])]
    window = fitted(lines, LINEAR, LINEAR)
    layout = lay_out_chart(QRectF(0, 0, 400, 240), lines, QFont())

    def drawn(*marks: Mark) -> QImage:
        image = QImage(400, 240, QImage.Format.Format_RGB32)
        image.fill(LIGHT.color("paper"))
        with QPainter(image) as painter:
            draw_chart(painter, lines, window, layout, LIGHT, QFont(), marks)
        return image

    bare = drawn()
    for upright in (True, False):
        assert drawn(Mark(0.5, "here", upright)) != bare
        assert drawn(Mark(99, "there", upright)) == bare
