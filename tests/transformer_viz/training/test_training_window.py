"""The whole way with a real process: started by clicks, left alone, found again, stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QLineEdit,
    QMessageBox,
    QPushButton,
)
from pytestqt.qtbot import QtBot

from core.checkpoints.header import read_header
from core.training.run_folder import RunFolder
from tests.transformer_viz.stage import Stage
from tests.transformer_viz.training.folders import make_run
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session
from transformer_viz.training.attention_page import AttentionPage
from transformer_viz.training.follow import Follow
from transformer_viz.training.new_run import NewRun
from transformer_viz.training.panel import TrainingPanel
from transformer_viz.training.replay import _Own
from transformer_viz.training.run import Run, RunState
from transformer_viz.training.run_questions import NumberQuestion
from transformer_viz.widgets.style import ThemeManager

A_PROCESS = 60_000  # ms in which one must have started, or ended, on the slowest machine


class Shown(Stage):
    def __init__(self, app: QApplication, qtbot: QtBot, runs: Path) -> None:
        super().__init__()
        self.qtbot = qtbot
        self.opened: list[Path] = []
        self.controller.open = self.opened.append  # type: ignore[method-assign]
        themes = ThemeManager(app, ThemeChoice.LIGHT)
        self.window = Window(self.session, self.controller, themes, runs=runs)
        with qtbot.waitActive(self.window):
            self.window.show()

    @property
    def panel(self) -> TrainingPanel:
        panel = self.window.training.panel
        assert panel is not None
        return panel

    def click(self, button: QAbstractButton) -> None:
        assert button.isEnabled()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=A_PROCESS)

    def run(self) -> Run:
        (run,) = self.panel.runs
        return run

    def close(self) -> None:
        self.window.training._told = True
        self.window.close()
        self.window.deleteLater()


@pytest.fixture
def open_window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[], Shown]]:
    shown: list[Shown] = []

    def open_() -> Shown:
        shown.append(Shown(qapp, qtbot, tmp_path / "runs"))
        return shown[-1]

    yield open_
    for each in shown:
        each.close()


def fill(dialog: NewRun, **settings: object) -> None:
    for name, value in settings.items():
        editor = dialog.settings.rows[name].editor
        assert isinstance(editor, QLineEdit)
        editor.selectAll()
        QTest.keyClicks(editor, str(value))


def button_of(box: QMessageBox, text: str) -> QAbstractButton:
    (button,) = [each for each in box.findChildren(QPushButton) if each.text() == text]
    return button


def test_from_new_run_to_the_explorer(open_window: Callable[[], Shown], tmp_path: Path) -> None:
    first = open_window()
    first.window.commands["new_run"].trigger()
    (dialog,) = first.window.findChildren(NewRun)
    fill(dialog, steps=2_000, source_batch_tokens=128, target_batch_tokens=128, vocab_size=300)
    fill(dialog, grammar_pairs=50, validation_pairs=5, d_model=16, threads=1, log_every=2)
    fill(dialog, checkpoint_every=5, validate_every=2_000, probe_points=0)
    first.click(dialog.start)
    assert first.panel.isVisible()
    assert first.run().state is RunState.STARTING
    first.wait(lambda: first.run().step >= 10)
    first.click(first.panel.pause)
    first.wait(lambda: first.run().state is RunState.PAUSED)

    first.window.close()
    (note,) = first.window.findChildren(QMessageBox)
    assert note.text() == "tiny-1 waits when the window is closed."
    first.click(button_of(note, "C&lose window"))
    assert not first.window.isVisible()

    second = open_window()
    second.window.commands["show_training"].trigger()
    found = second.run()
    assert (found.name, found.state) == ("tiny-1", RunState.PAUSED)
    paused_at = found.step
    second.click(second.panel.resume)
    second.wait(lambda: found.step > paused_at)
    second.click(second.panel.end)
    second.wait(lambda: found.state is RunState.STOPPED)
    second.click(second.panel.average)
    (question,) = second.panel.findChildren(NumberQuestion)
    question.number.setValue(2)
    question.accept()
    second.wait(lambda: bool(found.averages()) and not second.panel.averaging)
    assert read_header(found.averages()[0]).provenance["averaged"] == 2
    second.click(second.panel.overview.open)
    assert second.opened == [found.averages()[0]]
    assert read_header(found.checkpoints()[-1]).config.d_model == 16


def test_a_start_that_fails_says_why(open_window: Callable[[], Shown], tmp_path: Path) -> None:
    shown = open_window()
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("one\ntwo\n")
    target.write_text("eins\n")
    shown.window.commands["new_run"].trigger()
    (dialog,) = shown.window.findChildren(NewRun)
    dialog.data.grammar.setChecked(False)
    dialog.data.training.add(f"{source},{target}")
    shown.click(dialog.start)
    shown.wait(lambda: shown.run().state is RunState.FAILED)
    assert "2 lines" in shown.panel.overview.sentence.text()
    assert not shown.panel.resume.isEnabled()
    assert shown.panel.delete.isEnabled()


def test_a_dropped_run_folder_is_listed_and_remembered(
    open_window: Callable[[], Shown], tmp_path: Path
) -> None:
    make_run(tmp_path / "elsewhere")
    shown = open_window()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "elsewhere"))])
    none = Qt.KeyboardModifier.NoModifier
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    shown.window.dropEvent(QDropEvent(QPointF(9, 9), copy, mime, left, none))
    assert shown.run().name == "elsewhere"
    assert shown.controller.settings.runs == (str(tmp_path / "elsewhere"),)
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    shown.window.dropEvent(QDropEvent(QPointF(9, 9), copy, mime, left, none))
    assert "a training run has a run.json" in shown.window.notice.text


def test_the_panel_is_shown_and_hidden_by_its_key(open_window: Callable[[], Shown]) -> None:
    shown = open_window()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(QApplication.focusWidget() or shown.window, Qt.Key.Key_T, both)
    assert shown.panel.isVisible()
    assert shown.panel.first.hasFocus()
    shown.window.commands["next_panel"].trigger()
    assert not shown.panel.first.hasFocus()
    shown.window.commands["previous_panel"].trigger()
    assert shown.panel.first.hasFocus()
    QTest.keyClick(shown.panel.first, Qt.Key.Key_T, both)
    assert not shown.panel.isVisible()


def test_the_panel_opened_by_its_key_has_a_run_selected(
    open_window: Callable[[], Shown], tmp_path: Path
) -> None:
    """The keys are still held when it appears."""
    for name in ("one", "two"):
        make_run(tmp_path / "runs" / name)
    shown = open_window()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    focus = QApplication.focusWidget() or shown.window
    QTest.keyPress(focus, Qt.Key.Key_Control, Qt.KeyboardModifier.ControlModifier)
    QTest.keyPress(focus, Qt.Key.Key_T, both)
    assert [run.name for run in shown.panel.chosen] == ["two"]
    QTest.keyRelease(focus, Qt.Key.Key_T, both)
    QTest.keyRelease(focus, Qt.Key.Key_Control)


def test_following_ends_a_replay(open_window: Callable[[], Shown], tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "one", checkpoints=(10,))
    shown = open_window()
    panel = shown.window.training.show()
    (page,) = panel.findChildren(AttentionPage)
    (follow,) = panel.findChildren(Follow)
    page.replay._own = _Own("mine", 0, Selection(), None, None)
    assert page.replay.active
    shown.controller.open = lambda path, **_: shown.opened.append(path)  # type: ignore[method-assign]
    shown.click(follow)
    assert not page.replay.active
    assert shown.session.text == "mine"
    assert [path.name for path in shown.opened] == ["step-000010.safetensors"]


def test_the_note_at_closing_can_be_switched_off(
    open_window: Callable[[], Shown], tmp_path: Path
) -> None:
    folder = make_run(tmp_path / "runs" / "one")
    with RunFolder(folder.path).lock:
        shown = open_window()
        shown.window.commands["show_training"].trigger()
        shown.window.close()
        (note,) = shown.window.findChildren(QMessageBox)
        assert note.text() == "one continues training when the window is closed."
        (box,) = note.findChildren(QCheckBox)
        box.click()
        shown.click(button_of(note, "Cancel"))
        assert shown.window.isVisible()
        shown.window.close()
        assert not shown.window.isVisible()
    assert shown.controller.settings.tell_of_runs is False


def test_nothing_is_looked_for_before_the_panel_is_asked_for(
    open_window: Callable[[], Shown],
) -> None:
    shown = open_window()
    assert shown.window.training.runs is None
    assert isinstance(shown.session, Session)


def test_a_small_window_keeps_room_for_the_explorer(open_window: Callable[[], Shown]) -> None:
    shown = open_window()
    shown.window.resize(1280, 720)
    shown.window.training.show()
    dock = shown.window.training.dock
    assert dock is not None
    shown.wait(lambda: 0 < dock.height() < 0.38 * 720)
