"""The By hand view: typing, turning the arrow, copying, keeping."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtTest import QTest

from tests.transformer_viz.stage import Stage
from transformer_viz.by_hand.by_hand import OWN, ByHand
from transformer_viz.by_hand.sheet import EXAMPLES
from transformer_viz.drawing.theme import DARK

PENCIL, SCALING, BANK = EXAMPLES


@pytest.fixture
def stage(qapp) -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.controller.close()


@pytest.fixture
def view(stage: Stage, show) -> ByHand:
    return show(ByHand(stage.session), 1000, 700)


def texts(view: ByHand, title: str) -> list[list[str]]:
    return next(table.texts for table in view.picture.tables if table.title == title)


def test_it_opens_on_the_example_for_a_pencil(view: ByHand) -> None:
    assert view.example.currentText() == PENCIL
    assert texts(view, "Scores") == [["0.00", "1.00", "−1.00"]]
    assert texts(view, "Weights") == [["0.284", "0.576", "0.140"]]
    assert texts(view, "Output") == [["0.56", "1.29"]]
    assert "entropy 1.37 bits" in view.picture.accessibleDescription()


def test_a_typed_number_counts_and_is_kept(view: ByHand, stage: Stage, show) -> None:
    item = view.matrices["k"].item(2, 1)
    assert item is not None
    item.setText("3,5")
    assert texts(view, "Scores") == [["0.00", "1.00", "3.50"]]
    assert view.example.currentText() == OWN
    again = show(ByHand(stage.session))
    np.testing.assert_array_equal(again.sheet.keys, view.sheet.keys)


def test_the_numbers_of_a_session_are_shown(view: ByHand, stage: Stage) -> None:
    stage.session.change_options(by_hand=EXAMPLES[BANK].to_tsv())
    assert view.example.currentText() == BANK
    stage.session.change_options(by_hand=SCALING)
    assert view.example.currentText() == SCALING
    stage.session.change_options(by_hand="no numbers")
    assert view.example.currentText() == PENCIL


def test_what_is_no_number_is_refused_and_nothing_lost(view: ByHand) -> None:
    item = view.matrices["q"].item(0, 1)
    assert item is not None
    item.setText("one")
    assert view.problem.isVisible()
    assert view.problem.text() == "'one' is not a number; type one such as 0.5."
    assert item.text() == "1"
    assert texts(view, "Weights") == [["0.284", "0.576", "0.140"]]
    item.setText("2")
    assert not view.problem.isVisible()


def test_the_scaling_is_a_switch(view: ByHand) -> None:
    view.example.setCurrentText(SCALING)
    assert "mean entropy 1.67 bits" in view.picture.tables[2].about
    QTest.mouseClick(view.scaling, Qt.MouseButton.LeftButton)
    assert "mean entropy 0.68 bits" in view.picture.tables[2].about
    assert texts(view, "Scores") == texts(view, "Into the softmax")


def test_a_masked_cell_is_never_a_zero(view: ByHand) -> None:
    assert not view.masking.isEnabled()  # one query alone has no place among the keys
    view.example.setCurrentText(SCALING)
    QTest.mouseClick(view.masking, Qt.MouseButton.LeftButton)
    assert texts(view, "Into the softmax")[0][1:] == ["−∞"] * 3
    assert texts(view, "Weights")[0] == ["1.000", "masked", "masked", "masked"]
    codes = view.picture.tables[2].codes
    assert codes is not None
    assert (codes == 0).sum() == 6


def test_the_arrow_follows_the_mouse(view: ByHand) -> None:
    assert view.plane.isVisible()
    view.example.setCurrentText(BANK)
    rect = QRectF(view.plane.rect())
    scale = view.plane._scale(rect)
    target = rect.center().toPoint() + QPoint(0, -round(1.5 * scale))
    QTest.mousePress(view.plane, Qt.MouseButton.LeftButton, pos=target)
    np.testing.assert_allclose(view.sheet.queries, [[0, 1.5]], atol=0.03)
    weights = view.sheet.rows()[0].weights
    assert view.sheet.names[int(weights.argmax())] == "flooded"
    view.example.setCurrentText(SCALING)
    assert not view.plane.isVisible()


def test_the_arrow_is_turned_and_stretched_by_keys(view: ByHand) -> None:
    view.example.setCurrentText(BANK)
    before = view.sheet.queries[0]
    QTest.keyClick(view.plane, Qt.Key.Key_Left)
    turned = view.sheet.queries[0]
    assert np.hypot(*turned) == pytest.approx(np.hypot(*before))
    angle = np.degrees(np.arctan2(*turned[::-1]) - np.arctan2(*before[::-1]))
    assert angle == pytest.approx(5)
    QTest.keyClick(view.plane, Qt.Key.Key_Up)
    assert np.hypot(*view.sheet.queries[0]) == pytest.approx(1.1 * np.hypot(*before))
    assert "Query of bank" in view.plane.accessibleDescription()


def test_numbers_are_copied_and_pasted(view: ByHand) -> None:
    view.example.setCurrentText(SCALING)
    view.matrices["q"].setFocus()
    QTest.mouseClick(view.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    view.example.setCurrentText(PENCIL)
    QTest.mouseClick(view.paste, Qt.MouseButton.LeftButton)
    assert view.sheet.to_tsv() == copied
    QGuiApplication.clipboard().setText("nothing of the kind")
    QTest.mouseClick(view.paste, Qt.MouseButton.LeftButton)
    assert view.problem.isVisible()
    assert view.sheet.to_tsv() == copied


def test_another_size(view: ByHand) -> None:
    view.tokens.setValue(5)
    view.dimensions.setValue(3)
    assert view.matrices["q"].rowCount() == 5
    assert view.matrices["k"].columnCount() == 3
    assert not view.plane.isVisible()


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_figure_holds_everything(view: ByHand, example: str) -> None:
    view.example.setCurrentText(example)
    view.apply_theme(DARK)
    size = view.export_size()
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(DARK.color("paper"))
    painter = QPainter(image)
    view.paint_export(painter, QRect(QPoint(0, 0), size))
    painter.end()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(size.height(), size.width(), 4)
    drawn = (pixels[..., :3] != pixels[0, 0, :3]).any(axis=2)
    assert drawn.any()
    assert not drawn[-1].any() or example != SCALING
    assert not drawn[:, -1].any() or example != SCALING
