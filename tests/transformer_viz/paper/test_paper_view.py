"""The Paper view: the paper's points, exact counts beside them, keys and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from core.paper.study import Outcome, Plan, Study
from core.presets import preset
from tests.transformer_viz.stage import Stage
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.paper.cost_page import FRENCH, GERMAN, CostPage, cost_plot, own_cost
from transformer_viz.paper.paper import COST, RECIPE, VARIATIONS, PaperView
from transformer_viz.paper.recipe_page import SMOOTHING, RecipePage, own_recipe
from transformer_viz.paper.variations_page import VariationsPage, variations_plot
from transformer_viz.state.session import ModelInfo
from transformer_viz.widgets.result_table import ResultTable, Row


@pytest.fixture
def stage(qapp) -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.controller.close()


@pytest.fixture
def view(stage: Stage, show: Callable[..., PaperView]) -> PaperView:
    return show(PaperView(stage.session, stage.controller), 1000, 760)


def open_model(**provenance: object) -> ModelInfo:
    config = preset("tiny").model
    return ModelInfo(
        name="mine",
        path=Path("mine.safetensors"),
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        encoder_heads=config.encoder_heads,
        decoder_heads=config.decoder_heads,
        d_model=config.d_model,
        config=config,
        parameters=1,
        provenance=provenance,
    )


def test_each_pair_has_the_papers_points() -> None:
    german, french = cost_plot(GERMAN, None), cost_plot(FRENCH, None)
    assert [len(line.x) for line in german.lines] == [3, 2, 2]
    assert [len(line.x) for line in french.lines] == [4, 3, 2, 1]
    at = {name.text: (name.x, name.y) for name in german.names}
    assert at["Transformer big"] == (2.3e19, 28.4)
    assert at["ConvS2S ensemble"] == (7.7e19, 26.36)
    assert "ByteNet" not in at  # the paper gives it no cost
    assert {(name.x, name.y) for name in french.names} >= {(2.3e19, 41.8), (2.3e19, 41.0)}


def test_the_cost_of_the_open_model_is_counted() -> None:
    settings = {"steps": 9, "source_batch_tokens": 100, "target_batch_tokens": 100}
    found = own_cost(open_model(training=settings, step=10))
    twice = own_cost(open_model(training=settings, step=20))
    assert found is not None
    assert twice is not None
    assert found[0] == "mine"
    assert twice[1] == pytest.approx(2 * found[1])  # what it was trained, not what was planned
    (mark,) = cost_plot(GERMAN, found).marks
    assert (mark.text, mark.value) == found


@pytest.mark.parametrize("provenance", [{}, {"step": 3}, {"step": 3, "training": {"steps": 3}}])
def test_a_model_that_does_not_say_how_it_was_trained_has_no_mark(provenance: dict) -> None:
    assert own_cost(None) is None
    assert own_cost(open_model(**provenance)) is None


def test_a_model_that_went_on_from_another_has_no_mark() -> None:
    settings = {"steps": 9, "source_batch_tokens": 100, "target_batch_tokens": 100}
    about = {"training": settings, "step": 10}
    assert own_cost(open_model(**about)) is not None
    assert own_cost(open_model(**about, started_from={"file": "a.safetensors"})) is None


def test_the_contradiction_is_said_where_the_figure_is(view: PaperView) -> None:
    page = view.page
    assert isinstance(page, CostPage)
    assert "41.0" not in page.caption.text()
    QTest.mouseClick(page.pairs.button(FRENCH), Qt.MouseButton.LeftButton)
    assert "41.8" in page.caption.text()
    assert "41.0" in page.caption.text()
    number = next(n for n, row in enumerate(page.table.rows) if row.cells[0] == "Transformer big")
    assert "section 6.1 says 41.0" in page.table.describe(number)


def test_estimate_and_count_stand_beside_each_other(view: PaperView) -> None:
    rows = {row.cells[0]: row.cells for row in view.page.table.rows}
    assert rows["base"][1:4] == ("3.3·10¹⁸", "9.5·10¹⁷", "3.4")
    assert rows["big"][1:4] == ("2.3·10¹⁹", "9.7·10¹⁸", "2.4")
    assert "base, estimated: 12 h · 3,600 s · 8 P100 · 9.5·10¹² operations a second" in rows


def test_keys_walk_through_the_table_and_point_into_the_chart(view: PaperView) -> None:
    table, plot = view.page.table, view.page.plot
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Home)
    for _ in range(3):
        QTest.keyClick(table, Qt.Key.Key_Down)
    assert table.rows[table.current].cells[0] == "GNMT + RL"
    assert plot.step == 2.3e19
    assert "BLEU en–de 24.6" in table.accessibleDescription()
    assert "Transformer big" in plot.describe()  # it has the same cost


def test_every_row_of_table_3_is_there_with_an_exact_number_of_parameters(view: PaperView) -> None:
    view.show_page(VARIATIONS)
    rows = {row.cells[-1]: row.cells for row in view.page.table.rows if len(row.cells) == 6}
    assert len(rows) == 1 + 20
    assert rows["base"][1:5] == ("63,082,496", "65 M", "4.92", "25.8")
    assert sum(len(line.x) for line in variations_plot().lines) == 20
    assert view.page.plot.describe_at(5.77) == "no dropout: perplexity 5.77, BLEU 24.6"


def test_small_counterparts_stand_beside_the_papers_rows(
    view: PaperView, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bleu = {("base", 1): 50.0, ("base", 2): 52.0, ("a-heads-1", 1): 44.0, ("a-heads-1", 2): 45.0}
    bleu |= {("no-mask", 1): 1.0}
    monkeypatch.setattr(
        Study,
        "outcome",
        lambda _study, row, seed: Outcome(3.0, bleu[row, seed], 9) if (row, seed) in bleu else None,
    )
    Study.begin(tmp_path, Plan(rows=("base", "a-heads-1", "no-mask"), settings={}))
    model = tmp_path / "a-heads-1-2" / "model.safetensors"
    model.parent.mkdir()
    model.write_bytes(b"")
    view.show_page(VARIATIONS)
    page = view.page
    assert isinstance(page, VariationsPage)
    assert not page.open_model.isVisible()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    QTest.mouseClick(page.choose, Qt.MouseButton.LeftButton)
    rows = {row.cells[-1]: row.cells[5:8] for row in page.table.rows}
    assert rows["base"] == ("3.00", "51.0 (50.0–52.0)", "")
    assert rows["a-heads-1"] == ("3.00", "44.5 (44.0–45.0)", "as in the paper")
    assert rows["no-mask"] == ("3.00", "1.0", "one seed")
    assert rows["big"] == ("", "", "")
    assert "5 of 6 runs finished" in page.caption.text()
    assert "1 of 1 rows" in page.caption.text()
    assert not page.open_model.isEnabled()  # the base model's is not there
    opened: list[Path] = []
    monkeypatch.setattr(stage.controller, "open", opened.append)
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Down)
    QTest.mouseClick(page.open_model, Qt.MouseButton.LeftButton)
    assert opened == [model]
    again = PaperView(stage.session, stage.controller)  # as at the next start
    again.show_page(VARIATIONS)
    again.refresh()
    assert again.page.table.rows == page.table.rows
    page.show_study(str(tmp_path / "nowhere"))
    assert "study.json" in page.caption.text()
    QTest.mouseClick(page.choose, Qt.MouseButton.LeftButton)
    QTest.mouseClick(page.hide_own, Qt.MouseButton.LeftButton)
    assert stage.controller.settings.variations == ""
    assert len(page.table.rows[0].cells) == 6


def test_a_recipe_stands_beside_the_base_model_s(view: PaperView) -> None:
    view.show_page(RECIPE)
    page = view.page
    assert isinstance(page, RecipePage)
    values = {row.cells[1]: row.cells[2:] for row in page.table.rows}
    assert values["highest learning rate"] == ("6.99·10⁻⁴", "6.99·10⁻⁴")
    assert len(page.plot.lines) == 1
    page.choice.setCurrentText("big")
    rows = {row.cells[1]: row for row in page.table.rows}
    assert rows["dropout"].cells[2:] == ("0.3", "0.1")
    assert rows["dropout"].strong
    assert not rows["label smoothing ε"].strong
    assert rows["averaged checkpoints"].cells[2] == "last 20, 600 updates apart"
    big, usual = page.plot.lines
    at = int(big.x.searchsorted(4_000))
    assert big.y[at] == pytest.approx(usual.y[at] / 2**0.5)  # of twice the width
    QTest.mouseClick(page.plots.button(SMOOTHING), Qt.MouseButton.LeftButton)
    least, there = page.plot.lines
    assert (least.y[0], there.y[0]) == (0, 0)
    page.plot.read_off(0.1)
    assert page.plot.describe().startswith("label smoothing ε 0.1: lowest smoothed loss 1.37")


def test_the_open_model_s_recipe_is_offered_if_it_is_told(view: PaperView) -> None:
    view.show_page(RECIPE)
    page = view.page
    assert isinstance(page, RecipePage)
    count = page.choice.count()
    training = preset("tiny").training.to_dict()
    view.session.set_model(open_model(training=training, step=200))
    assert page.choice.count() == count + 1
    page.choice.setCurrentText("mine, open")
    assert page.config == preset("tiny")
    view.session.set_model(open_model())
    assert page.choice.count() == count
    assert own_recipe(open_model(training={"steps": "many"})) is None


def test_the_page_is_an_option_that_sessions_keep(view: PaperView, stage: Stage) -> None:
    assert view.page is view.pages[COST]
    QTest.mouseClick(view.choice.button(2), Qt.MouseButton.LeftButton)
    assert stage.session.options.paper_page is RECIPE
    assert view.page is view.pages[RECIPE]
    assert view.page.isVisible()
    stage.session.change_options(paper_page=VARIATIONS)  # as a session does
    assert view.choice.button(1).isChecked()
    assert view.pages[VARIATIONS].isVisible()


def test_a_remark_takes_the_whole_row_and_is_no_title(qapp) -> None:
    table = ResultTable("Table")
    table.show_rows(
        [Row(("a", "b"), head=True), Row(("x", "1")), Row(("remark " * 30,)), Row(("y", "2"))]
    )
    assert table.describe(3) == "y: b 2"
    assert table.describe(2) == "remark " * 30


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_page_is_exported_with_its_table(view: PaperView, theme, tmp_path: Path) -> None:
    view.apply_theme(theme)
    for page in (RECIPE, COST, VARIATIONS):
        view.show_page(page)
        size = view.export_size()
        image = QImage(size, QImage.Format.Format_RGB32)
        with QPainter(image) as painter:
            view.paint_export(painter, QRect(0, 0, size.width(), size.height()))
        last = image.copy(0, size.height() - view.page.table.row_height, 600, 20)
        colors = {last.pixel(x, y) for x in range(600) for y in range(20)}
        assert len(colors) > 1  # the last row is inside the picture
    path = tmp_path / "page.svg"
    svg = QSvgGenerator()
    svg.setFileName(str(path))
    svg.setSize(size)
    with QPainter(svg) as painter:
        view.paint_export(painter, QRect(0, 0, size.width(), size.height()))
    assert "learned positions" in QByteArray(path.read_bytes()).data().decode()
