from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.lines import Line, Mark, Plot, Shaded
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.widgets.line_plot import LinePlot

SIZE = QSize(600, 300)


def line(x: object, y: object, **more: object) -> Line:
    return Line(np.array(x, float), np.array(y, float), "one", 0, **more)  # type: ignore[arg-type]


@pytest.fixture
def chart(show: Callable[..., LinePlot]) -> LinePlot:
    chart = LinePlot("Chart")
    chart.show_plot(Plot((line(range(0, 201, 10), range(21)),), x_title="step"))
    show(chart, SIZE.width(), SIZE.height())
    chart.grab()  # its axes are as wide as their numbers from then on
    return chart


def shown(chart: LinePlot) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of what is shown, as places on the axes."""
    (left, right), (bottom, top) = chart.scene.view.viewRange()
    return left, right, bottom, top


def pixel(chart: LinePlot, x: float, y: float) -> QPoint:
    return QPointF(*chart.scene.point(x, y)).toPoint()


def wheel(chart: LinePlot, at: QPoint, held: Qt.KeyboardModifier) -> None:
    viewport = chart.scene.viewport()
    event = QWheelEvent(
        QPointF(at),
        QPointF(viewport.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def image_of(chart: LinePlot) -> QImage:
    image = QImage(chart.size(), QImage.Format.Format_RGB32)
    image.fill(chart.theme.color("paper"))
    with QPainter(image) as painter:
        chart.paint(painter)
    return image


def test_the_pointer_reads_values_off(chart: LinePlot) -> None:
    QTest.mouseMove(chart.scene.viewport(), pixel(chart, 103, 10))
    assert chart.step == 100
    assert chart.accessibleDescription() == "Step 100: one 10"


def test_keys_read_values_off(chart: LinePlot) -> None:
    chart.setFocus()
    for key, step in (
        (Qt.Key.Key_Right, 0),
        (Qt.Key.Key_PageDown, 100),
        (Qt.Key.Key_Left, 90),
        (Qt.Key.Key_PageUp, 0),
        (Qt.Key.Key_Left, 0),
    ):
        QTest.keyClick(chart, key)
        assert chart.step == step


def test_a_click_and_enter_choose_a_step(chart: LinePlot, qtbot) -> None:
    with qtbot.waitSignal(chart.stepChosen) as chosen:
        QTest.mouseClick(
            chart.scene.viewport(), Qt.MouseButton.LeftButton, pos=pixel(chart, 48, 10)
        )
    assert chosen.args == [50]
    chart.setFocus()
    with qtbot.waitSignal(chart.stepChosen) as chosen:
        QTest.keyClick(chart, Qt.Key.Key_Return)
    assert chosen.args == [50]


@pytest.mark.parametrize(
    ("held", "across", "up"),
    [
        (Qt.KeyboardModifier.NoModifier, 1.25, 1.25),
        (Qt.KeyboardModifier.ShiftModifier, 1.25, 1),
        (Qt.KeyboardModifier.ControlModifier, 1, 1.25),
    ],
)
def test_the_wheel_zooms_about_the_pointer(
    chart: LinePlot, held: Qt.KeyboardModifier, across: float, up: float
) -> None:
    left, right, bottom, top = shown(chart)
    at = pixel(chart, 50, 5)
    wheel(chart, at, held)
    after = shown(chart)
    assert after[1] - after[0] == pytest.approx((right - left) / across)
    assert after[3] - after[2] == pytest.approx((top - bottom) / up)
    assert (pixel(chart, 50, 5) - at).manhattanLength() <= 1
    assert chart.zoomed


def test_dragging_pans(chart: LinePlot, qtbot) -> None:
    left, right, bottom, top = shown(chart)
    viewport, start = chart.scene.viewport(), pixel(chart, 100, 10)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 11):
        QTest.mouseMove(viewport, start + QPoint(10 * step, 0))
        qtbot.wait(5)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start + QPoint(100, 0))
    moved = 100 / chart.scene.area().width() * (right - left)
    assert shown(chart) == pytest.approx((left - moved, right - moved, bottom, top), abs=3)
    assert chart.zoomed


def test_a_part_stays_while_lines_grow_until_everything_is_shown(chart: LinePlot) -> None:
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Plus)
    QTest.keyClick(chart, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    part = shown(chart)
    chart.show_plot(Plot((line(range(0, 301, 10), range(31)),)))
    assert shown(chart) == part
    QTest.keyClick(chart, Qt.Key.Key_0)
    assert shown(chart)[1] == 300
    assert not chart.zoomed


def test_a_double_click_shows_everything(chart: LinePlot, qtbot) -> None:
    chart.zoom(2, 2)
    with qtbot.waitSignal(chart.zoomedChanged):
        QTest.mouseDClick(
            chart.scene.viewport(), Qt.MouseButton.LeftButton, pos=pixel(chart, 100, 10)
        )
    assert not chart.zoomed


def test_another_scale_shows_everything(chart: LinePlot) -> None:
    chart.zoom(2, 2)
    lines = (line([0, 99], [1, 100]),)
    chart.show_plot(Plot(lines, x_scale=AxisScale.LOG_STEP, y_scale=AxisScale.LOG))
    assert shown(chart) == pytest.approx((0, 2, -0.1, 2.1))


def test_a_plot_that_cannot_move_keeps_its_range(show: Callable[..., LinePlot]) -> None:
    chart = show(LinePlot("Chart", movable=False), SIZE.width(), SIZE.height())
    chart.show_plot(Plot((line([0, 10], [0, 1]),)))
    before = shown(chart)
    wheel(chart, pixel(chart, 5, 0.5), Qt.KeyboardModifier.NoModifier)
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Plus)
    assert shown(chart) == before


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize(
    "scales", [(AxisScale.LINEAR, AxisScale.LINEAR), (AxisScale.LOG_STEP, AxisScale.LOG)]
)
def test_a_line_goes_through_its_points(
    show: Callable[..., LinePlot], theme: Theme, scales: tuple[AxisScale, AxisScale]
) -> None:
    chart = show(LinePlot("Chart"), SIZE.width(), SIZE.height())
    chart.apply_theme(theme)
    chart.show_plot(Plot((line([0, 10, 100], [1, 2, 4]),), x_scale=scales[0], y_scale=scales[1]))
    image, wanted = image_of(chart), head_color(theme, 0)
    at = pixel(chart, 10, 2)
    drawn = [image.pixelColor(at + QPoint(0, dy)) for dy in (-1, 0, 1)]
    assert (
        min(
            max(abs(a - b) for a, b in zip(one.getRgb(), wanted.getRgb(), strict=True))
            for one in drawn
        )
        < 60
    )


def test_marks_and_shaded_parts_are_drawn_only_inside(chart: LinePlot) -> None:
    lines = chart.plot.lines

    def drawn(**more: object) -> QImage:
        chart.show_plot(Plot(lines, y_range=(0, 20), **more))  # type: ignore[arg-type]
        return image_of(chart)

    bare = drawn()
    assert drawn() == bare
    assert drawn(marks=(Mark(100, "here", True),)) != bare
    assert drawn(marks=(Mark(10, "here", False),)) != bare
    assert drawn(shaded=(Shaded(50, 60),)) != bare
    assert drawn(marks=(Mark(900, "there", True), Mark(99, "there", False))) == bare


def test_a_hundred_thousand_points_keep_their_peaks(chart: LinePlot) -> None:
    values = np.zeros(100_000)
    values[61_803] = 1.0
    chart.show_plot(Plot((line(np.arange(100_000), values),), y_range=(0, 1)))
    image = image_of(chart)
    x, top = pixel(chart, 61_803, 0.9).x(), pixel(chart, 61_803, 0.9).y()
    column = [image.pixelColor(x + dx, top) for dx in (-1, 0, 1)]
    assert any(color.lightness() < LIGHT.color("paper").lightness() - 40 for color in column)


def test_it_is_painted_as_lines_and_text_into_a_file(chart: LinePlot, tmp_path: Path) -> None:
    file = tmp_path / "chart.svg"
    generator = QSvgGenerator()
    generator.setFileName(str(file))
    generator.setSize(SIZE)
    generator.setViewBox(QRect(QPoint(), SIZE))
    with QPainter(generator) as painter:
        chart.paint(painter)
    content = file.read_text()
    assert content.count("<polyline") + content.count("<path") > 5
    assert "one</text>" in content
    assert QSvgRenderer(QByteArray(content.encode())).isValid()
