from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.commands import train
from core.presets import preset
from core.training.run_folder import RunFolder
from tests.transformer_viz.stage import texts
from tests.transformer_viz.training.folders import log, make_run, say
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.training import runs as runs_module
from transformer_viz.training.overview import facts
from transformer_viz.training.panel import TrainingPanel
from transformer_viz.training.run import STOPPING, Run
from transformer_viz.training.run_questions import NumberQuestion
from transformer_viz.training.runs import Runs
from transformer_viz.words.wording import plain_tooltip


class Desk:
    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.launched: list[Sequence[str]] = []
        self.said: list[str] = []
        self.runs = Runs(folder, launch=lambda _path, words: self.launched.append(words))
        self.panel = TrainingPanel(self.runs)
        qtbot.addWidget(self.panel)
        self.panel.said.connect(self.said.append)
        self.panel.resize(1200, 320)
        self.panel.show()

    def look(self) -> None:
        self.runs.watch()
        self.runs.stop()

    def click(self, button: QAbstractButton) -> None:
        assert button.isEnabled()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def cell(self, row: int, column: int) -> str:
        return str(self.panel.table.rows.index(row, column).data())

    @property
    def enabled(self) -> set[str]:
        panel = self.panel
        buttons = {
            "resume": panel.resume,
            "pause": panel.pause,
            "end": panel.end,
            "average": panel.average,
            "delete": panel.delete,
        }
        return {name for name, button in buttons.items() if button.isEnabled()}


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Desk:
    return Desk(tmp_path / "runs", qtbot)


def test_without_runs_it_says_how_to_get_one(desk: Desk) -> None:
    desk.look()
    assert "No runs yet" in texts(desk.panel)
    with desk.qtbot.waitSignal(desk.panel.newWanted):
        desk.click(desk.panel.first)


def test_a_line_says_state_progress_time_and_scores(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one", steps=(10, 20))
    log(folder, step=20, valid_loss=3.14159, bleu=12.34)
    with folder.lock:
        desk.look()
        shown = [desk.cell(0, column) for column in range(6)]
        assert shown == ["one", "running", "20 / 100", "8 s", "3.142", "12.3"]
    desk.look()
    assert desk.cell(0, 1) == "stopped"
    assert desk.cell(0, 3) == ""


def test_only_what_is_possible_can_be_clicked(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one", checkpoints=(10, 20))
    desk.look()
    assert desk.enabled == {"resume", "average", "delete"}
    with folder.lock:
        desk.look()
        assert desk.enabled == {"pause", "end", "average"}
        desk.click(desk.panel.pause)
        assert desk.cell(0, 1) == "paused"
        assert desk.enabled == {"resume", "end", "average"}
        desk.click(desk.panel.resume)
        assert desk.cell(0, 1) == "running"
        desk.click(desk.panel.end)
        assert RunFolder(folder.path).wish() == "stop"
        assert desk.panel.overview.sentence.text() == STOPPING
    assert desk.launched == []


def test_a_stopped_run_is_resumed_in_a_process_of_its_own(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one")
    desk.look()
    desk.click(desk.panel.resume)
    assert desk.launched == [["resume", str(folder.path), "--json"]]
    assert desk.cell(0, 1) == "starting"


def test_a_finished_run_is_trained_on_as_far_as_asked(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one", steps=(100,), finished=True)
    desk.look()
    desk.click(desk.panel.resume)
    (dialog,) = desk.panel.findChildren(NumberQuestion)
    assert dialog.number.value() == 200
    dialog.number.setValue(150)
    dialog.accept()
    assert desk.launched == [["resume", str(folder.path), "--steps", "150", "--json"]]


def test_a_failure_is_told_in_the_overview_and_the_tooltip(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one")
    say(folder, event="failed", step=20, message="The disk is full.")
    desk.look()
    assert desk.cell(0, 1) == "failed"
    assert desk.panel.overview.sentence.text() == "The disk is full."
    tip = desk.panel.table.rows.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == plain_tooltip("The disk is full.")


def test_delete_asks_first_and_cancel_is_what_enter_does(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module.QFile, "moveToTrash", lambda _name: False)
    folder = make_run(desk.runs.folder / "one")
    desk.look()
    desk.panel.table.setFocus()
    for answer, left in (
        (None, True),
        ("&Delete", True),  # there is no trash, so it asks again
        (None, True),
        ("&Delete", True),
        ("&Delete for good", False),
    ):
        if answer != "&Delete for good" and not any(
            b.isVisible() for b in desk.panel.findChildren(QMessageBox)
        ):
            QTest.keyClick(desk.panel.table, Qt.Key.Key_Delete)
        box = next(b for b in desk.panel.findChildren(QMessageBox) if b.isVisible())
        assert str(folder.path) in box.informativeText()
        if answer is None:
            QTest.keyClick(box, Qt.Key.Key_Return)
        else:
            (button,) = [b for b in box.findChildren(QPushButton) if b.text() == answer]
            desk.click(button)
        assert folder.path.exists() is left
    assert "No runs yet" in texts(desk.panel)


def test_a_fact_that_is_marked_to_be_copied_stays_while_the_run_goes_on(desk: Desk) -> None:
    def fact(name: str) -> QLabel:
        labels = desk.panel.overview.findChildren(QLabel)
        (label,) = [each for each in labels if each.accessibleName() == name]
        return label

    folder = make_run(desk.runs.folder / "one", steps=(10,))
    with folder.lock:
        desk.look()
        fact("Folder").setSelection(0, 5)
        assert fact("Trained for").text() == "1 s"
        log(folder, step=400, seconds=40.0)
        desk.look()
        assert fact("Trained for").text() == "40 s"
        assert fact("Folder").selectedText() == str(folder.path)[:5]


def test_models_are_opened_from_the_list(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one", steps=(20,), checkpoints=(10, 20), finished=True)
    desk.look()
    models = desk.panel.overview.models
    names = [models.item(row).text() for row in range(models.count())]
    assert names == ["result: mean of the last checkpoints", "step 20", "step 10"]
    models.setFocus()
    QTest.keyClick(models, Qt.Key.Key_Down)
    with desk.qtbot.waitSignal(desk.panel.openWanted) as blocker:
        desk.click(desk.panel.overview.open)
    assert blocker.args == [folder.checkpoint(20)]


def test_the_selection_stays_when_runs_come_and_pages_follow_it(desk: Desk) -> None:
    make_run(desk.runs.folder / "old", started="2026-01-01T00:00:00+00:00")
    desk.look()
    shown: list[list[str]] = []

    class Page(QPushButton):
        def show_runs(self, runs: Sequence[Run]) -> None:
            shown.append([run.name for run in runs])

        def apply_theme(self, theme: object) -> None: ...

    page = Page()
    desk.panel.add_page("Page", page, page)
    make_run(desk.runs.folder / "new", started="2026-02-01T00:00:00+00:00")
    desk.look()
    assert [run.name for run in desk.panel.chosen] == ["old"]
    desk.panel.table.setFocus()
    QTest.keyClick(desk.panel.table, Qt.Key.Key_Up)
    assert shown[-1] == ["new"]
    QTest.keyClick(desk.panel.table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert shown[-1] == ["new", "old"]
    assert "average" not in desk.enabled


def test_both_themes_dress_it(desk: Desk) -> None:
    make_run(desk.runs.folder / "one")
    desk.look()
    pictures = []
    for theme in (LIGHT, DARK):
        desk.panel.apply_theme(theme)
        color = desk.panel.table.viewport().grab().toImage().pixelColor(4, 200).name()
        pictures.append(color)
    assert pictures == [LIGHT.paper, DARK.paper]


def test_the_log_is_what_the_process_wrote(desk: Desk) -> None:
    folder = make_run(desk.runs.folder / "one")
    folder.log_text.write_text("grammar: 200 pairs\n")
    desk.look()
    assert desk.panel.log.toPlainText() == "grammar: 200 pairs"


def test_a_held_key_does_not_keep_the_newest_run_from_being_chosen(desk: Desk) -> None:
    """Ctrl is still down when Ctrl+Shift+T has opened the panel."""
    for name in ("one", "two"):
        make_run(desk.runs.folder / name)
    QTest.keyPress(desk.panel, Qt.Key.Key_Control, Qt.KeyboardModifier.ControlModifier)
    try:
        desk.look()
        assert len(desk.panel.chosen) == 1
        desk.panel.choose(desk.panel.chosen[0])
        assert len(desk.panel.chosen) == 1
    finally:
        QTest.keyRelease(desk.panel, Qt.Key.Key_Control)


def test_several_chosen_runs_stay_chosen_when_the_list_changes(desk: Desk) -> None:
    for name in ("one", "two"):
        make_run(desk.runs.folder / name)
    desk.look()
    desk.panel.table.selectAll()
    assert len(desk.panel.chosen) == 2
    make_run(desk.runs.folder / "three")
    desk.look()
    assert [run.name for run in desk.panel.chosen] == ["two", "one"]


@pytest.mark.parametrize("command", ["transformer-viz train tiny", "transformer-viz train c.json"])
def test_the_command_in_the_overview_can_be_run_again(
    tmp_path: Path, command: str, qtbot: QtBot
) -> None:
    data = tmp_path / "with a space.tsv"
    settings = {"data": ["grammar", str(data)], "clip_norm": 2.0, "probes": ["a b\tc d"]}
    config = preset("tiny").with_settings(settings)
    make_run(tmp_path / "one", config=config)
    (tmp_path / "one-again").mkdir()
    run = Run(tmp_path / "one")
    run.about = {"command": command}
    run.config = config
    words = shlex.split(dict(facts(run))["Command"])
    assert words[:3] == ["transformer-viz", "train", "tiny"]
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    arguments = parser.parse_args(words[2:])
    assert train.configuration(arguments) == config
    assert arguments.out == tmp_path / "one-again-2"
