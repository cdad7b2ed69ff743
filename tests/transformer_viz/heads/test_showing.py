"""From the sentences of a role to the explorer, and the dock in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.heads.answers import show_answer
from tests.transformer_viz.stage import GOOD, FakeBackend, Stage, word_trace
from transformer_viz.engine.resolution import famous_pairs
from transformer_viz.engine.worker import Context
from transformer_viz.heads.panel import HeadsPanel
from transformer_viz.heads.report import Evidence
from transformer_viz.heads.showing import ORIGIN
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.state.session import Phase, Search
from transformer_viz.widgets.style import ThemeManager

E, C = AttentionKind.ENCODER_SELF, AttentionKind.CROSS
SOURCE = "The animal slept because it was tired ."


class TargetBackend(FakeBackend):
    """Scores a translation that is given."""

    def explain(
        self, text: str, search: Search, context: Context, target: str | None = None
    ) -> Trace:
        made = super().explain(text, search, context)
        if target is None:
            return made
        more = target.removeprefix(made.translation).split()
        return word_trace(text, *more)


class Shown(Stage):
    def __init__(self, app: QApplication, qtbot: QtBot) -> None:
        super().__init__(TargetBackend())
        self.qtbot = qtbot
        self.window = Window(self.session, self.controller, ThemeManager(app, ThemeChoice.LIGHT))
        with qtbot.waitActive(self.window):
            self.window.show()
        self.controller.open(GOOD)
        self.wait(lambda: self.session.model is not None)

    @property
    def panel(self) -> HeadsPanel:
        panel = self.window.heads.panel
        assert panel is not None
        return panel

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=10_000)

    def show(self, head: Head, query: int, key: int, target: str = "") -> None:
        self.panel.showWanted.emit(head, Evidence(SOURCE, target or SOURCE.upper(), query, key, 1))


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    shown = Shown(qapp, qtbot)
    yield shown
    shown.window.close()
    shown.window.deleteLater()


def test_ctrl_h_asks_what_the_head_does_and_once_more_hides(shown: Shown) -> None:
    QTest.keyClick(shown.window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    dock = shown.window.heads.dock
    assert dock is not None
    assert dock.isVisible()
    show_answer(shown.controller.heads)
    shown.window.commands["heads"].trigger()
    shown.wait(shown.panel.table.hasFocus)
    shown.window.commands["show_heads"].trigger()
    assert not dock.isVisible()


def test_f6_leads_to_the_panel(shown: Shown) -> None:
    shown.window.commands["heads"].trigger()
    assert shown.panel in shown.window._panels()


def test_a_sentence_of_the_encoder_is_shown_with_its_cell(shown: Shown) -> None:
    shown.window.commands["heads"].trigger()
    shown.window.show_view("positions")
    shown.show(Head(E, 1, 2), 4, 1)
    shown.wait(lambda: shown.session.selection.key == 1)
    selection = shown.session.selection
    assert (selection.primary, selection.query) == (Head(E, 1, 2), 4)
    assert shown.session.text == shown.window.source.text() == SOURCE
    assert shown.window.stage.current == "heatmap"


def test_the_translation_of_the_sample_is_forced_where_the_model_says_otherwise(
    shown: Shown,
) -> None:
    shown.window.commands["heads"].trigger()
    target = f"{SOURCE.upper()} INDEED"
    shown.show(Head(C, 0, 1), 3, 2, target)
    shown.wait(lambda: shown.session.selection.key == 2)
    trace = shown.session.trace
    assert trace is not None
    assert trace.translation == target
    assert (shown.session.selection.primary, shown.session.selection.query) == (Head(C, 0, 1), 3)
    active = shown.controller.decoding.active
    assert active is not None
    assert active.origin == ORIGIN


def test_another_sentence_of_the_same_text_needs_no_translation(shown: Shown) -> None:
    shown.window.commands["heads"].trigger()
    shown.show(Head(E, 0, 0), 4, 1)
    shown.wait(lambda: shown.session.selection.key == 1)
    count = len(shown.backend.explained)
    shown.show(Head(C, 0, 0), 2, 3)
    assert shown.session.selection.primary == Head(C, 0, 0)
    assert (shown.session.selection.query, shown.session.selection.key) == (2, 3)
    assert len(shown.backend.explained) == count


def test_who_goes_on_meanwhile_is_left_alone(shown: Shown) -> None:
    shown.window.commands["heads"].trigger()
    shown.show(Head(C, 0, 1), 3, 2)
    shown.window.show_text("Something else")
    shown.wait(shown.shows("Something else"))
    QApplication.processEvents()
    assert shown.session.selection.key is None
    assert shown.session.status.phase is Phase.READY


def test_a_pair_is_flipped_in_the_explorer_by_space(shown: Shown) -> None:
    QTest.keyClick(shown.window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    page = shown.panel.resolving
    shown.wait(lambda: len(shown.controller.resolving.traces) == 2)
    first, second = famous_pairs()[0].sides
    QTest.keyClick(page.rows, Qt.Key.Key_Return)
    shown.wait(shown.shows(first.text))
    QTest.keyClick(page.rows, Qt.Key.Key_Space)
    shown.wait(shown.shows(second.text))
    selection = shown.session.selection
    assert selection.primary == Head(E, 0, 0)
    assert selection.query is not None
    assert shown.session.trace is not None
    assert shown.session.trace.source_tokens[selection.query].label == "it"


def test_the_table_is_saved_as_csv(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown.window.commands["heads"].trigger()
    show_answer(shown.controller.heads)
    path = tmp_path / "heads"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (str(path), ""))
    QTest.mouseClick(shown.panel.run_bar.csv, Qt.MouseButton.LeftButton)
    text = (tmp_path / "heads.csv").read_text()
    assert text.startswith("name,kind,layer,head,")
    assert len(text.splitlines()) == 19
    shown.window.heads.save_csv(tmp_path / "gone" / "x.csv")
    assert "Could not write" in shown.window.notice.text


@pytest.mark.parametrize(("height", "high"), [(720, 240), (1080, 410)])
def test_the_dock_leaves_room_for_a_map(shown: Shown, height: int, high: int) -> None:
    shown.window.resize(1280, height)
    shown.window.commands["heads"].trigger()
    dock = shown.window.heads.dock
    assert dock is not None
    shown.wait(lambda: abs(dock.height() - high) < 2)
