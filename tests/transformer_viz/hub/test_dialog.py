from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QTreeWidgetItemIterator, QWidget
from pytestqt.qtbot import QtBot

from tests.transformer_viz.hub.conftest import REPOSITORY, SIZE, Hub
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.hub.dialog import GetModel
from transformer_viz.hub.pair_list import FROM, HERE, MODEL, STATE, TO, PairList


@pytest.fixture
def dialog(hub: Hub, qtbot: QtBot) -> Iterator[GetModel]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = GetModel(hub.download, parent)
    made.show()
    yield made
    made.close()


def click(button: QAbstractButton) -> None:
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def shown(list_: PairList) -> list[tuple[str, str, str]]:
    rows = []
    walk = QTreeWidgetItemIterator(list_, QTreeWidgetItemIterator.IteratorFlag.NotHidden)
    while (item := walk.value()) is not None:
        rows.append((item.text(FROM), item.text(TO), item.text(MODEL)))
        walk += 1
    return rows


def test_any_words_of_languages_pair_or_model_find_it(dialog: GetModel) -> None:
    assert dialog.list.repository == REPOSITORY
    QTest.keyClicks(dialog.search, "german eng")
    assert ("English", "German", REPOSITORY) in shown(dialog.list)
    assert len(shown(dialog.list)) < 6
    dialog.search.setText("mt-de-en")
    assert shown(dialog.list) == [("German", "English", "Helsinki-NLP/opus-mt-de-en")]
    assert dialog.list.repository == "Helsinki-NLP/opus-mt-de-en"
    dialog.search.clear()
    assert dialog.list.repository == "Helsinki-NLP/opus-mt-de-en", "what is shown stays chosen"


@pytest.mark.parametrize(
    ("typed", "repository"),
    [("ty-es", "Helsinki-NLP/opus-mt-ty-es"), ("acme/model", "acme/model")],
)
def test_models_that_are_not_in_the_list(dialog: GetModel, typed: str, repository: str) -> None:
    dialog.search.setText(typed)
    assert shown(dialog.list) == [("another model", "", repository)]
    assert dialog.list.repository == repository
    assert dialog.action.isEnabled()


def test_arrows_go_through_the_list_while_one_types(dialog: GetModel) -> None:
    QTest.keyClicks(dialog.search, "english")
    chosen = dialog.list.repository
    QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.list.repository not in ("", chosen)
    QTest.keyClick(dialog.search, Qt.Key.Key_Up)
    assert dialog.list.repository == chosen
    assert dialog.search.text() == "english"


def test_words_that_find_nothing(hub: Hub, dialog: GetModel) -> None:
    dialog.search.setText("Klingon please")
    assert shown(dialog.list) == []
    assert dialog.list.repository == ""
    assert dialog.said.text() == "No language pair matches."
    assert not dialog.action.isEnabled()
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert hub.child.asked == []


def test_ask_download_open(hub: Hub, dialog: GetModel, qtbot: QtBot) -> None:
    assert dialog.action.text() == "&Ask for size and licence"
    assert dialog.said.text() == "Size and licence are not known yet."
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)  # the default button
    assert dialog.said.text() == "Asking the hub…"
    assert not dialog.list.isEnabled()
    hub.answer()
    assert dialog.said.text() == f"298 MB; licence: CC BY 4.0\nWill be stored in {hub.folder}"
    assert dialog.action.text() == "&Download"
    click(dialog.action)
    hub.child.progressed.emit('{"done": 149000000, "total": 298000000, "seconds_left": 61.0}')
    assert dialog.said.text() == "149 MB of 298 MB, 1 min left"
    assert dialog.bar.value() == dialog.bar.maximum() / 2
    assert not dialog.action.isVisible()
    with qtbot.waitSignal(dialog.openWanted) as wanted:
        hub.answer(SIZE)
    assert wanted.args == [hub.folder]
    assert not dialog.isVisible()
    dialog.show()
    assert dialog.list.currentItem().text(STATE) == HERE
    assert dialog.said.text() == f"Downloaded to {hub.folder}"
    with qtbot.waitSignal(dialog.openWanted):
        click(dialog.action)
    assert len(hub.child.asked) == 2


def test_a_hub_that_is_silent_need_not_be_waited_for(hub: Hub, dialog: GetModel) -> None:
    click(dialog.action)
    assert not dialog.action.isVisible()
    assert dialog.cancel.text() == "&Cancel"
    click(dialog.cancel)
    assert hub.child.cancelled == 1
    assert dialog.action.text() == "&Ask for size and licence"
    assert dialog.said.text() == "Size and licence are not known yet."


def test_cancel_and_resume(hub: Hub, dialog: GetModel) -> None:
    click(dialog.action)
    hub.answer()
    click(dialog.action)
    hub.child.progressed.emit('{"done": 120000000, "total": 298000000, "seconds_left": null}')
    click(dialog.cancel)
    assert hub.child.cancelled == 1
    assert dialog.action.text() == "&Resume the download"
    assert "298 MB, of which 120 MB already downloaded; licence: CC BY 4.0" in dialog.said.text()
    assert not dialog.bar.isVisible()
    assert not dialog.cancel.isVisible()
    click(dialog.action)
    assert hub.download.downloading


def test_what_arrives_while_the_dialog_is_closed_is_not_opened(hub: Hub, dialog: GetModel) -> None:
    opened: list[object] = []
    dialog.openWanted.connect(opened.append)
    click(dialog.action)
    hub.answer()
    click(dialog.action)
    dialog.close()
    hub.answer(SIZE)
    assert hub.download.here
    assert opened == []


def test_a_failure_is_one_sentence_below_the_model(hub: Hub, dialog: GetModel) -> None:
    assert not dialog.problem.isVisible()
    click(dialog.action)
    hub.child.failed.emit("The hub cannot be reached.")
    assert dialog.problem.isVisible()
    assert dialog.problem.text() == "The hub cannot be reached."
    dialog.list.choose("Helsinki-NLP/opus-mt-en-fr")
    assert not dialog.problem.isVisible()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_themes(dialog: GetModel, theme: object) -> None:
    dialog.apply_theme(theme)  # type: ignore[arg-type]
    assert dialog.grab().width() > 0
