"""Typing into number fields, under each locale: both marks are read, and a refusal is visible."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import transformer_viz
from transformer_viz.widgets.number_boxes import DecimalBox, WholeBox
from transformer_viz.words.wording import plain_tooltip

Desk = Callable[[QAbstractSpinBox], QAbstractSpinBox]


@pytest.fixture(
    params=[QLocale.Language.English, QLocale.Language.German, QLocale.Language.French],
    ids=lambda language: language.name,
)
def desk(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[Desk]:
    """Shows a field made under a locale, with another one to go to."""
    usual = QLocale()
    QLocale.setDefault(QLocale(request.param))
    windows = []  # kept alive as long as the test

    def show(box: QAbstractSpinBox) -> QAbstractSpinBox:
        window = QWidget()
        column = QVBoxLayout(window)
        box.setLocale(QLocale())
        column.addWidget(box)
        column.addWidget(WholeBox())
        windows.append(window)
        qtbot.addWidget(window)
        window.show()
        window.activateWindow()
        box.setFocus()
        qtbot.waitUntil(box.hasFocus)
        return box

    yield show
    for window in windows:
        window.close()
    qtbot.wait(1)  # for what is still to be said
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
    QLocale.setDefault(usual)


def factor() -> DecimalBox:
    box = DecimalBox(minimum=0.0, maximum=2.0, singleStep=0.1, decimals=2, value=1.0)
    box.setPrefix("× ")
    box.setKeyboardTracking(False)
    return box


def type_in(box: QAbstractSpinBox, text: str, key: Qt.Key = Qt.Key.Key_Return) -> None:
    box.selectAll()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, key)


@pytest.mark.parametrize("text", ["0,8", "0.8", ",8", "0,80"])
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_both_marks_are_read(desk: Desk, text: str, key: Qt.Key) -> None:
    box = factor()
    desk(box)
    type_in(box, text, key)
    assert box.value() == 0.8
    assert box.text() == "× 0.80"
    assert not box.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0,8x", "“0,8x” is not a number."),
        ("3", "Type a number from 0.00 to 2.00."),
        ("0,125", "Type at most 2 decimals."),
        ("", "Type a number."),
    ],
)
def test_a_refusal_says_why_and_keeps_the_value(
    desk: Desk, qtbot: QtBot, text: str, problem: str
) -> None:
    box = factor()
    desk(box)
    if text:
        type_in(box, text)
    else:
        box.selectAll()
        QTest.keyClick(box, Qt.Key.Key_Delete)
        QTest.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == 1.0
    assert box.problem == problem
    assert box.accessibleDescription() == problem
    assert box.lineEdit().property("refused") is True
    qtbot.waitUntil(lambda: QToolTip.text() == plain_tooltip(problem))
    QTest.keyClick(box, Qt.Key.Key_Tab)
    assert (box.value(), box.text(), box.problem) == (1.0, "× 1.00", "")
    qtbot.waitUntil(lambda: QToolTip.text() == plain_tooltip(f"{problem} The value stays 1.00."))
    assert box.lineEdit().property("refused") is False


def test_a_refused_text_can_be_mended(desk: Desk) -> None:
    box = factor()
    desk(box)
    QTest.keyClick(box, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    type_in(box, "0,8x")
    QTest.keyClicks(box, "0,8x")
    QTest.keyClick(box, Qt.Key.Key_Backspace)
    assert not box.problem
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == 0.8


def test_steps_and_new_values_end_a_refusal(desk: Desk) -> None:
    box = factor()
    desk(box)
    type_in(box, "abc")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert (box.text(), box.problem) == ("× 1.00", "")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert (box.value(), box.problem) == (1.1, "")
    type_in(box, "abc")
    box.setValue(0.5)
    assert (box.text(), box.problem) == ("× 0.50", "")


def test_a_special_text_is_the_least_value(desk: Desk) -> None:
    box = DecimalBox(minimum=0.0, maximum=1.0, decimals=3, value=0.0, prefix="blank < ")
    box.setSpecialValueText("no threshold")
    desk(box)
    type_in(box, "0,125")
    assert (box.value(), box.text()) == (0.125, "blank < 0.125")
    type_in(box, "0")
    assert (box.value(), box.text(), box.problem) == (0.0, "no threshold", "")


@pytest.mark.parametrize("text", ["1500", "1,500", "1.500", "1 500"])
def test_a_whole_number_may_be_grouped(desk: Desk, text: str) -> None:
    box = WholeBox(minimum=10, maximum=20_000, suffix=" sentences")
    box.setGroupSeparatorShown(True)
    desk(box)
    type_in(box, text)
    assert (box.value(), box.text()) == (1500, "1,500 sentences")
    type_in(box, "1,5")
    assert (box.value(), box.problem) == (1500, "“1,5” is not a whole number.")


def test_every_number_field_of_the_window_is_one_of_these() -> None:
    folder = Path(transformer_viz.__file__).parent
    others = [
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if path.name != "number_boxes.py"
        and re.search(r"Q(Double)?SpinBox|Q(Int|Double)Validator|QInputDialog", path.read_text())
    ]
    assert others == []
