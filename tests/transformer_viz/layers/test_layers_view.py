"""The Layers view, with a process that answers as a test tells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QByteArray, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtTest import QTest

from core.lab.report import INFLUENCE, QUANTITIES, LayerCost, LayersReport, LengthCost
from core.model.mixers.kinds import MixerShape
from tests.transformer_viz.heads.desk import FakeChild
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.layers import layer_costs
from transformer_viz.layers.cost_curves import cost_plot, said_of
from transformer_viz.layers.layer_costs import LayerCosts
from transformer_viz.layers.layers import FIRST, LayersView
from transformer_viz.state.session import Session

LEFT = Qt.MouseButton.LeftButton


def cost(n: int, power: float) -> LengthCost:
    return LengthCost(n, n * n, 1, 1e-6 * n**power, 2e-6 * n**power, 1000 * n, 2000 * n)


def layer(kind: str, title: str, power: float, path: int | None) -> LayerCost:
    costs = tuple(cost(n, power) for n in (16, 32, 64, 128))
    return LayerCost(kind, title, 66_048, "n²d", "1", path, 63, costs)


REPORT = LayersReport(
    MixerShape(d_model=64),
    False,
    2,
    "a processor",
    64,
    (
        layer("attention", "Self-attention", 2.0, 1),
        replace(layer("lstm", "LSTM", 1.0, None), left_out="128 positions were left out."),
    ),
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(layer_costs, "Child", FakeChild)
    return tmp_path / "kept" / "layers.json"


@pytest.fixture
def view(show: Callable[..., LayersView], file: Path) -> LayersView:
    return show(LayersView(Session(), LayerCosts(file)), 1000, 760)


def child(view: LayersView) -> FakeChild:
    made = view._costs._child
    assert isinstance(made, FakeChild)
    return made


def test_the_choice_is_what_is_measured(view: LayersView) -> None:
    assert not view.has_picture
    assert view.focus_part() is view.measure
    view.checks["mamba"].setChecked(False)
    view.checks["bigbird"].setChecked(True)
    view.sizes["d_model"].setValue(32)
    view.longest.setCurrentIndex(0)
    view.causal.setChecked(True)  # of which BigBird has none
    assert not view.checks["bigbird"].isEnabled()
    QTest.mouseClick(view.measure, LEFT)
    (asked,) = child(view).asked
    kinds = [name for name in FIRST if name != "mamba"]
    assert asked[:2] == ["layers", "--json"]
    assert asked[asked.index("--kinds") + 1 : asked.index("--longest")] == kinds
    words = " ".join(asked)
    assert "--longest 256 --width 32 --heads 4 --kernel 3 --neighbours 9 --causal" in words


def test_what_is_impossible_is_said_and_not_measured(view: LayersView) -> None:
    view.sizes["d_model"].setValue(30)
    QTest.mouseClick(view.measure, LEFT)
    assert "30 is not divisible by 4 heads" in view.problem.text()
    view.sizes["d_model"].setValue(32)
    for action in view.checks.values():
        action.setChecked(False)
    QTest.mouseClick(view.measure, LEFT)
    assert "No kind of layer is chosen" in view.problem.text()
    assert not child(view).asked


def test_kinds_appear_while_it_runs_and_stay_when_it_is_cancelled(
    view: LayersView, file: Path
) -> None:
    QTest.mouseClick(view.measure, LEFT)
    assert view.cancel.isVisible()
    assert not view.measure.isVisible()
    child(view).progressed.emit('{"done": 5, "total": 20, "seconds_left": 42.0}')
    assert view.progress.value() == 250
    assert view.said.text() == "42 s left"
    child(view).progressed.emit(replace(REPORT, layers=REPORT.layers[:1]).to_json())
    assert len(view.page.plot.lines) == 1
    QTest.mouseClick(view.cancel, LEFT)
    assert view.measure.isVisible()
    assert len(view.page.plot.lines) == 1
    kept = LayerCosts(file).report
    assert kept is not None
    assert [one.kind for one in kept.layers] == ["attention"]


def test_a_failure_is_said_and_nothing_is_lost(view: LayersView) -> None:
    child(view).finished.emit(REPORT.to_json())
    QTest.mouseClick(view.measure, LEFT)
    child(view).failed.emit("There is not enough memory.")
    assert view.problem.text() == "⚠ There is not enough memory."
    assert view._costs.report == REPORT
    QTest.mouseClick(view.measure, LEFT)
    assert not view.problem.isVisible()
    child(view).finished.emit("nonsense")
    assert "unreadable answer" in view.problem.text()


def test_a_file_that_cannot_be_read_is_as_none(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("{}", encoding="utf-8")
    assert LayerCosts(file).report is None


def test_lines_are_powers_with_the_crossover_marked() -> None:
    plot = cost_plot(REPORT, "training_seconds")
    assert [line.label for line in plot.lines] == ["Attention n^2.00", "LSTM n^1.00"]
    np.testing.assert_allclose(plot.lines[0].y, [2e-3 * n * n for n in (16, 32, 64, 128)])
    assert plot.lines[0].suffix == " ms"
    assert [(mark.value, mark.text) for mark in plot.marks] == [(64, "n = d")]
    assert cost_plot(REPORT, "step_seconds").lines == ()
    assert cost_plot(replace(REPORT, shape=MixerShape(d_model=512)), "sequential").marks == ()


def test_influence_is_a_line_over_distance_that_ends_where_nothing_arrives() -> None:
    one = replace(REPORT.layers[0], influence=(1.0, 0.5, 0.0))
    plot = cost_plot(replace(REPORT, layers=(one,)), INFLUENCE)
    assert plot.lines[0].label == "Attention"
    np.testing.assert_array_equal(plot.lines[0].x, [0, 1, 2])
    np.testing.assert_array_equal(plot.lines[0].y, [1, 0.5, np.nan])
    assert plot.marks == ()
    assert "before any training" in said_of(REPORT, INFLUENCE)


def test_the_table_and_its_keys(view: LayersView) -> None:
    child(view).finished.emit(REPORT.to_json())
    rows = [row.cells for row in view.page.table.rows]
    assert rows[1][:4] == ("Attention", "n²d", "n^2.00", "16.38 ms at 128")
    assert rows[2][5:7] == ("never", "63, O(1)")
    assert rows[3] == ("LSTM: 128 positions were left out.",)
    table = view.page.table
    assert view.focus_part() is table
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Home)
    for _ in range(2):
        QTest.keyClick(table, Qt.Key.Key_Down)
    assert [line.color for line in view.page.plot.lines] == ["line", 5]
    assert "fitted n^1.00" in table.accessibleDescription()
    view.page.quantity.setCurrentIndex(list(QUANTITIES).index("step_seconds"))
    assert "choose “Decoder”" in view.page.caption.text()


def test_what_was_measured_is_chosen_at_the_next_start(
    show: Callable[..., LayersView], file: Path
) -> None:
    longer = replace(REPORT.layers[1], costs=(cost(512, 1.0),))
    layers = (REPORT.layers[0], longer)
    LayerCosts(file)._know(replace(REPORT, causal=True, layers=layers))
    again = show(LayersView(Session(), LayerCosts(file)), 900, 700)
    assert again.sizes["d_model"].value() == 64
    assert again.causal.isChecked()
    assert again.longest.currentData() == 512
    assert [name for name, one in again.checks.items() if one.isChecked()] == ["attention", "lstm"]
    assert again.measure.text() == "Measure again"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_picture_has_chart_and_table(view: LayersView, theme: Theme) -> None:
    child(view).finished.emit(REPORT.to_json())
    view.apply_theme(theme)
    size, target = view.export_size(), QByteArray()
    device = QBuffer(target)
    generator = QSvgGenerator()
    generator.setOutputDevice(device)
    generator.setSize(size)
    painter = QPainter(generator)
    view.paint_export(painter, QRect(0, 0, size.width(), size.height()))
    painter.end()
    text = bytes(target.data()).decode()
    for words in ("One layer of each kind", "n = d", "Attention", "never", "positions n"):
        assert words in text
    assert view.export_name() == "layers, time, forward"


def test_every_control_has_a_name(view: LayersView) -> None:
    for box in view.sizes.values():
        assert box.accessibleName()
        assert box.toolTip()
    for named in (view.kinds, view.longest, view.cancel, view.progress, view.page.quantity):
        assert named.accessibleName()
