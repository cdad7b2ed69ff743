from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.transformer_viz.training.fake_run import add_lines, log_steps, make_run
from transformer_viz.drawing.axis import AxisScale
from transformer_viz.drawing.theme import DARK
from transformer_viz.training.curves import Curves
from transformer_viz.training.metrics import METRICS, smoothed


@pytest.fixture
def curves(qtbot) -> Curves:
    curves = Curves()
    qtbot.addWidget(curves)
    curves.resize(800, 400)
    curves.show()
    return curves


@pytest.fixture
def learning(curves: Curves, tmp_path: Path) -> Curves:
    run = make_run(tmp_path / "one")
    log_steps(run, 10, 200)
    curves.show_runs([run])
    return curves


def choose(curves: Curves, name: str) -> None:
    curves.choice.setCurrentIndex(curves.choice.findText(name))


def says(curves: Curves) -> str:
    return " ".join(label.text() for label in curves.findChildren(QLabel) if label.isVisible())


def labels(curves: Curves) -> list[str]:
    return [line.label for line in curves.chart.lines]


def test_training_and_validation_are_lines_of_one_chart(learning: Curves) -> None:
    training, validation = learning.chart.lines
    assert (training.label, validation.label) == ("training", "validation")
    assert list(training.x) == list(range(10, 201, 10))
    assert list(validation.x) == [50, 100, 150, 200]
    assert validation.y[0] == pytest.approx(2)
    assert validation.dots
    assert not training.dots


@pytest.mark.parametrize("metric", [metric.name for metric in METRICS if metric.id != "gloss"])
def test_every_metric_can_be_chosen_by_key(learning: Curves, metric: str) -> None:
    learning.choice.setFocus()
    while learning.choice.currentText() != metric:
        QTest.keyClick(learning.choice, Qt.Key.Key_Down)
    assert learning.chart.isVisible()
    assert learning.chart.lines
    assert says(learning)


def test_a_metric_that_the_run_has_not_is_said_to_be_missing(learning: Curves) -> None:
    choose(learning, "Gloss loss")
    assert not learning.chart.isVisible()
    assert "No Gloss loss in this run yet" in says(learning)


def test_a_run_of_an_earlier_version_shows_its_smoothed_loss(
    curves: Curves, tmp_path: Path
) -> None:
    run = make_run(tmp_path / "old")
    add_lines(run.folder.metrics, [{"step": step, "train_loss": 5.0} for step in (10, 20)])
    run.poll()
    curves.show_runs([run])
    assert labels(curves) == ["training, smoothed targets"]


def test_perplexity_is_exp_of_the_loss(learning: Curves) -> None:
    choose(learning, "Perplexity")
    training, validation = learning.chart.lines
    np.testing.assert_allclose(training.y, np.exp(8 / (1 + training.x / 20)))
    np.testing.assert_allclose(validation.y, 2.718 ** (7 / (1 + validation.x / 20)))


def test_without_runs_it_says_what_to_do(curves: Curves) -> None:
    assert "No run selected" in says(curves)


def test_before_the_first_line_it_says_when_it_comes(curves: Curves, tmp_path: Path) -> None:
    curves.show_runs([make_run(tmp_path / "new")])
    assert "Nothing logged yet" in says(curves)


def test_new_lines_appear_by_themselves(learning: Curves, tmp_path: Path) -> None:
    run = learning._runs[0]
    log_steps(run, 210, 300)
    assert learning.chart.lines[0].x[-1] == 300
    assert learning.chart.scene.view.viewRange()[0][1] == 300


def test_a_hidden_chart_catches_up_when_it_is_shown(learning: Curves) -> None:
    learning.hide()
    log_steps(learning._runs[0], 210, 300)
    assert learning.chart.lines[0].x[-1] == 200
    learning.show()
    assert learning.chart.lines[0].x[-1] == 300


def test_several_runs_have_a_colour_each(learning: Curves, tmp_path: Path) -> None:
    other = make_run(tmp_path / "two")
    log_steps(other, 10, 100)
    learning.show_runs([*learning._runs, other])
    assert labels(learning) == [
        *("one · training", "one · validation"),
        *("two · training", "two · validation"),
    ]
    assert [line.color for line in learning.chart.lines] == [0, 0, 1, 1]
    choose(learning, "BLEU")
    assert labels(learning) == ["one", "two"]


def test_a_run_that_is_no_longer_shown_is_not_followed(learning: Curves, tmp_path: Path) -> None:
    before = learning._runs[0]
    learning.show_runs([])
    log_steps(before, 210, 300)
    assert learning.chart.lines == ()


def test_scales_are_switched_by_click(learning: Curves) -> None:
    QTest.mouseClick(learning.log_steps, Qt.MouseButton.LeftButton)
    QTest.mouseClick(learning.log_values, Qt.MouseButton.LeftButton)
    plot = learning.chart.plot
    assert (plot.x_scale, plot.y_scale) == (AxisScale.LOG_STEP, AxisScale.LOG)
    assert learning.chart.scene.view.viewRange()[0][1] == pytest.approx(np.log10(201))


def test_smoothing_keeps_the_line_itself_behind(learning: Curves) -> None:
    raw = learning.chart.lines[0].y
    learning.smoothing.setValue(0.9)
    training, validation = learning.chart.lines
    assert training.raw is not None
    np.testing.assert_array_equal(training.raw, raw)
    assert not np.allclose(training.y, raw)
    assert validation.raw is None
    choose(learning, "Learning rate")
    assert learning.chart.lines[0].raw is None


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.floats(0, 0.99))
def test_smoothing_is_the_weighted_mean_of_what_came(values: list[float], weight: float) -> None:
    last = len(values) - 1
    weights = weight ** np.arange(last, -1, -1.0) if weight else np.eye(len(values))[last]
    expected = float((weights * values).sum() / weights.sum())
    assert smoothed(np.array(values), weight)[-1] == pytest.approx(expected, abs=1e-6)


def test_smoothing_leaves_gaps() -> None:
    np.testing.assert_allclose(smoothed(np.array([2.0, np.nan, 2.0]), 0.5), [2, np.nan, 2])


def test_another_theme_is_painted_anew(learning: Curves) -> None:
    learning.grab()
    learning.apply_theme(DARK)
    image = learning.chart.grab().toImage()
    assert image.pixelColor(2, 2) == DARK.color("paper")


def test_everything_has_a_name(learning: Curves) -> None:
    for part in (learning.choice, learning.log_steps, learning.smoothing, learning.chart):
        assert part.accessibleName()


def test_the_learning_rate_is_told_as_these_runs_have_it(learning: Curves, tmp_path: Path) -> None:
    choose(learning, "Learning rate")
    assert "Over the last 20% of the steps it falls linearly to zero." in says(learning)
    run, steady = make_run(tmp_path / "two"), make_run(tmp_path / "three")
    for each in (run, steady):
        each.poll()
    assert steady.config is not None
    steady.config = steady.config.with_settings({"cooldown": 0.0})
    learning.show_runs([run, steady])
    assert "In runs with a cool-down it ends with a linear fall to zero." in says(learning)
    learning.show_runs([steady])
    assert "falls with 1/√step" in says(learning)
    assert "linear" not in says(learning)
    choose(learning, "Loss")
    learning.show_runs([run])
    assert "linear" not in says(learning)


def test_a_zoomed_part_stays_while_the_run_goes_on_until_the_button_shows_all(
    learning: Curves,
) -> None:
    chart = learning.chart
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Plus)
    part = chart.scene.view.viewRange()
    log_steps(learning._runs[0], 210, 300)
    assert chart.scene.view.viewRange() == part
    assert learning.fit.isEnabled()
    QTest.mouseClick(learning.fit, Qt.MouseButton.LeftButton)
    assert chart.scene.view.viewRange()[0][1] == 300
    assert not learning.fit.isEnabled()
