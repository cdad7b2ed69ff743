"""Through the view: what is shown of a model's positions, and of a sentence without them."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.model.positions import sinusoid_table
from core.trace.positions import PositionTable
from tests.transformer_viz.stage import GOOD, FakeBackend, Stage
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.engine.worker import Context
from transformer_viz.positions.positions import (
    MOST_CURVES,
    PAGES,
    Positions,
    facts,
    parse_dimensions,
)


def sinusoids(n: int = 512, d_model: int = 16, **how: str | int | None) -> PositionTable:
    layout = how.get("layout", "interleaved")
    denominator = how.get("denominator", "d_model")
    values = sinusoid_table(0, n, d_model, str(layout), str(denominator)).numpy()
    return PositionTable(values=values, **how)  # type: ignore[arg-type]


def learned(n: int = 40, d_model: int = 8, trained: int | None = 24) -> PositionTable:
    values = np.random.default_rng(1).normal(size=(n, d_model)).astype(np.float32)
    return PositionTable(values=values, kind="learned", trained=trained)


class Backend(FakeBackend):
    table = sinusoids(trained=40)

    def positions(self, context: Context) -> PositionTable:
        return self.table


@pytest.fixture
def stage(qapp: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr("tests.transformer_viz.stage.FakeBackend", Backend)
    made = Stage()
    yield made
    made.backend.gate.set()
    made.controller.close()


Open = Callable[..., Positions]


@pytest.fixture
def open_view(stage: Stage, show: Callable[..., Positions], qtbot: QtBot) -> Open:
    """The view of a model with this table, on a sentence."""

    def open_view(
        table: PositionTable | None = None, text: str = "the dog slept", page: str = "grid"
    ) -> Positions:
        if table is not None:
            stage.backend.table = table  # type: ignore[attr-defined]
        view = Positions(stage.session, stage.controller.what_if)
        show(view, 820, 640)
        view.show_page(page)
        stage.controller.translate(text)
        stage.controller.open(GOOD)
        qtbot.waitUntil(stage.shows(text))
        qtbot.waitUntil(lambda: stage.controller.what_if.table is not None)
        return view

    return open_view


def center(view: Positions, row: int, column: int) -> QPoint:
    return view.grid.canvas.layout_now().cell_rect(row, column).center().toPoint()


def test_each_page_shows_by_click(open_view: Open, qtbot: QtBot) -> None:
    view = open_view()
    seen = set()
    for index, name in enumerate(PAGES):
        qtbot.mouseClick(view.switch.button(index), Qt.MouseButton.LeftButton)
        assert view.page == name
        picture = view.picture()
        if name != "what_if":
            assert picture.isVisible()
            seen.add(to_array(picture.grab().toImage()).tobytes())
    assert len(seen) == len(PAGES) - 1, "every page has a picture of its own"


def test_the_grid_reads_the_cell_under_the_pointer(open_view: Open, qtbot: QtBot) -> None:
    view = open_view()
    qtbot.mouseMove(view.grid.canvas, center(view, 12, 3))
    qtbot.waitUntil(lambda: view.grid.canvas.cell == (12, 3))
    value = np.cos(12 * 10000 ** (-2 / 16))
    wavelength = 2 * np.pi * 10000 ** (2 / 16)
    expected = f"Position 12, dimension 3: cos, wavelength {wavelength:.1f}. Value "
    assert view.grid.reading.text() == expected + f"{value:.4f}".replace("-", "−")
    assert view.grid.canvas.accessibleDescription() == view.grid.reading.text()


def test_the_grid_by_keyboard(open_view: Open) -> None:
    view = open_view()
    canvas = view.grid.canvas
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_PageDown):
        QTest.keyClick(canvas, key)
    assert canvas.cell == (11, 1)
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.cell == (11, 0), "there is nothing further left"
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert view.page == "curves"


def test_cells_have_the_colour_of_their_sign(
    open_view: Open, pixel: Callable[..., list[int]]
) -> None:
    view = open_view(sinusoids(d_model=4, trained=20))
    one_and_zero = (
        pixel(view.grid.canvas, center(view, 20, 3)),
        pixel(view.grid.canvas, center(view, 0, 2)),
    )
    red, _, blue, _ = one_and_zero[0]  # cos of nearly 0
    assert blue > red
    assert one_and_zero[1] == [255, 255, 255, 255]  # sin 0
    red, _, blue, _ = pixel(view.grid.canvas, center(view, 5, 0))  # sin 5 is near -1
    assert red > blue


def test_clicking_a_column_follows_it_as_a_curve(open_view: Open, qtbot: QtBot) -> None:
    view = open_view()
    before = view.dimensions.chosen
    point = center(view, 10, 7)
    qtbot.mouseMove(view.grid.canvas, point)
    qtbot.mouseClick(view.grid.canvas, Qt.MouseButton.LeftButton, pos=point)
    assert view.page == "curves"
    assert view.dimensions.chosen == (*before, 7)
    assert view.dimensions.edit.text() == "0, 2, 4, 8, 7"
    assert view.curves.canvas.lines[-1].label.startswith("dimension 7: cos, wavelength ")
    assert np.array_equal(view.curves.canvas.lines[-1].y, Backend.table.values[:60, 7])


def test_dimensions_are_typed(open_view: Open) -> None:
    view = open_view(page="curves")
    edit = view.dimensions.edit
    edit.setText("3, 1 ,3")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert view.dimensions.chosen == (3, 1)
    assert [curve.label.split(":")[0] for curve in view.curves.canvas.lines] == [
        "dimension 3",
        "dimension 1",
    ]
    edit.setText("99")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert view.dimensions.chosen == (3, 1), "what cannot be read changes nothing"
    assert "no dimension 99" in edit.toolTip()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("16", "There is no dimension 16; they are numbered 0 to 15."),
        ("-1", "There is no dimension -1"),
        ("two", "There is no dimension two"),
        ("", "Type 1 to 6"),
        ("0 1 2 3 4 5 6", "Type 1 to 6"),
    ],
)
def test_impossible_dimensions_are_explained(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_dimensions(text, 16)


def test_no_more_curves_than_can_be_told_apart(open_view: Open) -> None:
    view = open_view()
    for dimension in range(10, 16):
        view.dimensions.add(dimension)
    assert len(view.dimensions.chosen) == MOST_CURVES
    assert view.dimensions.chosen[-1] == 15


def test_curves_read_by_keyboard(open_view: Open) -> None:
    view = open_view(page="curves")
    canvas = view.curves.canvas
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_PageDown):
        QTest.keyClick(canvas, key)
    assert canvas.step == 11
    assert view.curves.reading.text() == "Position 11"
    assert "dimension 0: sin, wavelength 6.3 −1" in canvas.accessibleDescription()


def test_it_opens_past_the_longest_text_in_training(open_view: Open) -> None:
    view = open_view()
    assert view.shown.value() + 1 == 60  # half as many again as the 40 in training
    extent = view.grid.canvas.picture.extent  # type: ignore[union-attr]
    assert [mark.text for mark in extent.marks()] == ["this sentence · 4", "seen in training · 40"]
    assert extent.present == 60
    assert "continue by" in extent.sentence_about_end()


def test_it_reaches_past_a_long_sentence_unless_the_user_says_how_far(
    open_view: Open, stage: Stage, qtbot: QtBot
) -> None:
    view = open_view(text="dog " * 200)
    last = view.shown.value()
    assert last > 201
    marks = view.grid.canvas.picture.extent.marks()  # type: ignore[union-attr]
    assert [mark.text for mark in marks] == ["seen in training · 40", "this sentence · 201"]

    def translate(text: str) -> None:
        stage.controller.translate(text)
        qtbot.waitUntil(stage.shows(text))

    translate("the dog slept")
    assert view.shown.value() + 1 == 60
    view.shown.setValue(99)
    translate("dog " * 200)
    assert view.shown.value() == 99


def test_the_ground_changes_where_training_ended(
    open_view: Open, pixel: Callable[..., list[int]]
) -> None:
    view = open_view()
    layout = view.grid.canvas.layout_now()

    def beside(row: int) -> list[int]:
        y = layout.cell_rect(row, 0).center().y()
        return pixel(view.grid.canvas, QPoint(2, round(y)))

    assert beside(20) == [255, 255, 255, 255]
    shaded = LIGHT.color("hover")
    assert beside(50) == [shaded.red(), shaded.green(), shaded.blue(), 255]


def test_a_learned_table_ends_visibly(open_view: Open, qtbot: QtBot) -> None:
    view = open_view(learned())
    canvas = view.grid.canvas
    assert view.shown.value() + 1 == 48
    extent = canvas.picture.extent  # type: ignore[union-attr]
    assert [mark.text for mark in extent.marks()][1:] == [
        "seen in training · 24",
        "the table ends · 40",
    ]
    codes = canvas.picture.codes  # type: ignore[union-attr]
    assert (codes[:40] > 0).all()
    assert (codes[40:] == 0).all(), "beyond the end there are no numbers"
    qtbot.mouseMove(canvas, center(view, 39, 2))
    qtbot.waitUntil(lambda: canvas.cell == (39, 2))
    assert view.grid.reading.text().startswith("Position 39, dimension 2. Value")
    qtbot.mouseMove(canvas, center(view, 45, 2))
    qtbot.waitUntil(lambda: canvas.cell is None)
    view.show_page("curves")
    assert {len(curve.y) for curve in view.curves.canvas.lines} == {40}


def test_similarity_of_the_table(open_view: Open, qtbot: QtBot) -> None:
    view = open_view(page="similarity")
    canvas = view.similarity.canvas
    qtbot.mouseMove(canvas, canvas.layout_now().cell_rect(7, 3).center().toPoint())
    qtbot.waitUntil(lambda: canvas.cell == (7, 3))
    frequencies = 10000.0 ** (-np.arange(8) / 8)
    expected = np.cos(4 * frequencies).sum()
    assert view.similarity.reading.text() == f"PE(7) · PE(3) = {expected:.3f}, distance 4"
    qtbot.mouseClick(view.similarity.cosine, Qt.MouseButton.LeftButton)
    assert view.similarity.reading.text() == f"cos(PE(7), PE(3)) = {expected / 8:.3f}, distance 4"


def test_a_large_similarity_is_computed_beside_the_event_loop(
    open_view: Open, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer_viz.positions.position_similarity.INLINE_PRODUCTS", 1)
    view = open_view(page="similarity")
    qtbot.waitUntil(lambda: view.similarity.canvas.picture is not None)
    assert view.similarity.canvas.picture is not None
    assert (view.similarity.canvas.picture.codes.diagonal() == 255).all()


def test_a_shift_is_one_rotation(open_view: Open) -> None:
    view = open_view(page="shift")
    view.shift.k.slider.setValue(7)
    view.shift.position.box.setValue(30)
    picture = view.shift.canvas.shown
    assert picture is not None
    for pair in picture.pairs:
        assert pair.turned == pytest.approx(pair.target, abs=1e-6)
        assert pair.turned == pytest.approx(pair.start * np.exp(1j * pair.angle), abs=1e-6)
    assert picture.pairs[0].angle == pytest.approx(7)
    cosine, sine = np.cos(7), np.sin(7)
    np.testing.assert_allclose(picture.matrix[:2, :2], [[cosine, sine], [-sine, cosine]])
    assert "with the same R_k for every position" in view.shift.statement.text()
    assert "dims 0, 1 by 7.00 rad" in view.shift.canvas.accessibleDescription()


def test_halves_pair_columns_that_lie_apart(open_view: Open) -> None:
    view = open_view(sinusoids(layout="halves", denominator="d_model-2"), page="shift")
    picture = view.shift.canvas.shown
    assert picture is not None
    assert picture.columns == (0, 8, 1, 9, 2, 10, 4, 12)
    assert facts(sinusoids(layout="halves", denominator="d_model-2", trained=40)) == (
        "Sinusoids, halves · last wavelength 10000 · 2π · 16 dimensions · "
        "trained on up to 40 tokens"
    )


def test_a_learned_table_has_no_fixed_rotation(open_view: Open) -> None:
    view = open_view(learned(), page="shift")
    assert view.shift.statement.text().startswith("No fixed rotation maps a learned PE(pos)")


def test_sliders_reach_no_position_that_does_not_exist(open_view: Open) -> None:
    view = open_view(learned(n=9), page="shift")
    view.shift.k.box.setValue(10_000)
    view.shift.position.box.setValue(10_000)
    assert view.shift.k.box.value() + view.shift.position.box.value() == 8


@pytest.mark.parametrize("text", ["alone", "a b c d e f g h i j k l m n o p q r s t u v w"])
def test_sentences_of_any_length(open_view: Open, text: str) -> None:
    view = open_view(learned(n=12), text=text)
    for page in PAGES:
        view.show_page(page)
        view.grab()


def test_the_theme_reaches_every_page(open_view: Open, pixels: Callable[..., np.ndarray]) -> None:
    view = open_view()
    for page in ("grid", "curves", "similarity", "shift"):
        view.show_page(page)
        view.apply_theme(LIGHT)
        light = pixels(view.picture()).copy()
        view.apply_theme(DARK)
        assert not np.array_equal(light, pixels(view.picture())), page


def test_the_picture_is_exported_without_its_controls(open_view: Open) -> None:
    view = open_view()
    size = view.export_size()
    assert size == view.grid.canvas.size()
    image = QImage(size, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    view.paint_export(painter, QRect(QPoint(0, 0), size))
    painter.end()
    assert len(np.unique(to_array(image).reshape(-1, 4), axis=0)) > 50


def test_the_view_waits_for_a_model(stage: Stage, show: Callable[..., Positions]) -> None:
    view = show(Positions(stage.session, stage.controller.what_if), 820, 640)
    for page in PAGES:
        view.show_page(page)
        view.grab()
    assert "as soon as the model" in view._facts.text()
    assert "Type an English sentence" in view.what_if.statement.text()
