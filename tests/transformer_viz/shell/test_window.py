import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind
from tests.transformer_viz.heads.desk import FakeChild
from tests.transformer_viz.stage import GOOD, OTHER, Stage, word_trace
from transformer_viz.drawing.theme import DARK, LIGHT
from transformer_viz.heads.store import Question
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.shell.palette import Palette
from transformer_viz.shell.views import VIEW_NAMES
from transformer_viz.shell.window import Window
from transformer_viz.state.bundled import FIRST_TEXT
from transformer_viz.state.options import Quantity, ThemeChoice
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import MAX_CHARACTERS, Phase
from transformer_viz.widgets.style import ThemeManager

CONTROLS = (
    QAbstractButton,
    QAbstractSpinBox,
    QAbstractScrollArea,
    QAbstractSlider,
    QLineEdit,
    QTabBar,
)


class Shown(Stage):
    """A window that shows the translation of "a b it c"."""

    def __init__(self, app: QApplication, qtbot: QtBot) -> None:
        super().__init__()
        self.themes = ThemeManager(app, ThemeChoice.LIGHT)
        self.controller.change_settings(theme=ThemeChoice.LIGHT)
        self.window = Window(self.session, self.controller, self.themes)
        self.window.show()
        self.window.show_text("a b it c")
        self.controller.open(GOOD)
        qtbot.waitUntil(self.shows("a b it c"))
        self.qtbot = qtbot

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
        self.qtbot.keyClick(
            QApplication.focusWidget() or self.window,
            key,
            modifier or Qt.KeyboardModifier.NoModifier,
        )


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(qapp, qtbot)
    yield made
    made.backend.gate.set()
    made.window.close()
    made.window.deleteLater()


def test_typing_translates(shown: Shown, qtbot: QtBot) -> None:
    shown.window.source.setFocus()
    qtbot.keyClicks(shown.window.source.editor, " d")
    qtbot.waitUntil(shown.shows("a b it c d"))


def test_the_text_survives_a_slow_engine(shown: Shown, qtbot: QtBot) -> None:
    shown.backend.gate.clear()
    qtbot.keyClicks(shown.window.source.editor, " more and more")
    assert shown.window.source.text() == "a b it c more and more"
    qtbot.waitUntil(lambda: shown.phase is Phase.BUSY)
    shown.backend.gate.set()
    qtbot.waitUntil(shown.shows("a b it c more and more"))


def test_a_huge_paste_is_answered_in_one_sentence(shown: Shown) -> None:
    shown.window.source.editor.insertPlainText("word " * 10_000)
    assert shown.phase is Phase.FAILED
    assert f"{MAX_CHARACTERS:,}" in shown.session.status.message


def test_everything_that_takes_the_focus_has_a_name_for_screen_readers(shown: Shown) -> None:
    nameless = [
        f"{widget.__class__.__name__} in {widget.parent().__class__.__name__}"
        for widget in shown.window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and widget.window() is shown.window  # not the list of a combo box
        and not name_for_screen_readers(widget)
    ]
    assert nameless == []


def name_for_screen_readers(widget: QWidget) -> str:
    """What is read out: the accessible name, else the text, else that of the label beside it."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def test_every_command_has_a_mnemonic_of_its_own(shown: Shown) -> None:
    menus = [action.menu() for action in shown.window.menuBar().actions()]
    for actions in (shown.window.menuBar().actions(), *(menu.actions() for menu in menus)):
        texts = [action.text() for action in actions if not action.isSeparator()]
        marks = [text[text.index("&") + 1].lower() for text in texts]
        assert len(marks) == len(set(marks)), texts


def test_no_shortcut_is_given_twice(shown: Shown) -> None:
    keys = [key.toString() for action in shown.window.commands for key in action.shortcuts()]
    assert len(keys) == len(set(keys))
    assert "" not in keys


def focused_panel(window: Window) -> QWidget:
    focused = QApplication.focusWidget()
    assert focused is not None
    panels = (
        *(window.source, window.chips, window.heads_map, window.stage, window.inspector),
        window.model_bar,
    )
    return next(panel for panel in panels if panel.isAncestorOf(focused))


@pytest.mark.parametrize("view", VIEW_NAMES)
@pytest.mark.parametrize("pinned", [True, False])
def test_f6_walks_through_all_panels_and_back(shown: Shown, view: str, pinned: bool) -> None:
    """With or without a query for the inspector to give the keyboard to."""
    window = shown.window
    window.show_view(view)
    window.source.setFocus()
    shown.session.select(query=1 if pinned else None)
    panels = [window.chips, window.heads_map, window.stage, window.inspector]
    for panel in [*panels, window.model_bar, window.source]:
        shown.press(Qt.Key.Key_F6)
        assert focused_panel(window) is panel
    for panel in [window.model_bar, window.inspector, window.stage]:
        shown.press(Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert focused_panel(window) is panel


@pytest.mark.parametrize("view", VIEW_NAMES)
def test_tab_reaches_every_control(shown: Shown, qtbot: QtBot, view: str) -> None:
    shown.window.show_view(view)
    if view == "compare":
        shown.controller.comparison.choose_text("a b that c")
        qtbot.waitUntil(lambda: shown.controller.comparison.status.phase is Phase.READY)
    qtbot.waitUntil(lambda: not shown.window.is_drawing())
    shown.window.source.setFocus()
    reached: set[QWidget] = set()
    for _ in range(60):
        shown.press(Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        reached.add(focused)
    wanted = {
        widget
        for widget in shown.window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusProxy() is None
        and isinstance(widget, CONTROLS)
    }
    assert {
        widget.accessibleName() for widget in wanted - reached if not _by_arrows(widget)
    } == set()


@pytest.mark.parametrize("panel", ["chips", "inspector"])
def test_the_focus_is_seen_before_anything_is_chosen_there(shown: Shown, panel: str) -> None:
    shown.session.select(kind=AttentionKind.ENCODER_SELF, query=1, key=None)
    widget = getattr(shown.window, panel)
    widget.setFocus()
    focused = QApplication.focusWidget()
    assert focused is not None
    seen = focused.grab().toImage()
    shown.window.source.setFocus()
    assert focused.grab().toImage() != seen


def _by_arrows(widget: QWidget) -> bool:
    """Whether arrows lead to it from the checked button of its group."""
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    return group is not None and group.exclusive() and not widget.isChecked()


def test_keys_choose_heads_and_kinds(shown: Shown) -> None:
    shown.session.select(layer=0, head=0)
    shown.press(Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    shown.press(Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert (shown.session.selection.layer, shown.session.selection.head) == (1, 1)
    shown.press(Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert shown.session.selection.kind == "cross"
    shown.press(Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert shown.session.selection.kind == "encoder_self"


@pytest.mark.parametrize("panel", ["source", "chips", "heads_map", "stage", "inspector"])
def test_escape_releases_the_pin_from_everywhere(shown: Shown, panel: str) -> None:
    shown.session.pin(1, 1)
    getattr(shown.window, panel).setFocus()
    shown.press(Qt.Key.Key_Escape)
    assert shown.session.selection == Selection(
        shown.session.selection.kind, shown.session.selection.layer, shown.session.selection.head
    )


def test_ctrl_l_leads_to_the_text(shown: Shown) -> None:
    shown.window.stage.of(Heatmap).setFocus()
    shown.press(Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is shown.window.source.editor


def test_beam_search_by_key_and_by_box(shown: Shown, qtbot: QtBot) -> None:
    shown.press(Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: shown.backend.explained[-1][1].beam == 4)
    bar = shown.window.model_bar
    assert bar.beam.isChecked()
    assert bar.size_box.isEnabled()
    bar.size_box.setValue(6)
    bar.alpha_box.setValue(0.9)
    qtbot.waitUntil(lambda: shown.backend.explained[-1][1].alpha == 0.9)
    assert shown.backend.explained[-1][1].beam == 6
    bar.greedy.click()
    qtbot.waitUntil(lambda: shown.backend.explained[-1][1].beam == 1)
    assert not bar.size_box.isEnabled()


def test_the_form_of_the_length_penalty_is_chosen_in_the_menu(shown: Shown, qtbot: QtBot) -> None:
    commands, bar = shown.window.commands, shown.window.model_bar
    assert commands["penalty_model"].isChecked()
    commands["penalty_length"].trigger()
    qtbot.waitUntil(lambda: shown.backend.explained[-1][1].penalty == "length")
    assert commands["penalty_length"].isChecked()
    assert "log P / tokens^0.6" in bar.alpha_box.toolTip()
    bar.beam.click()  # keeps it
    assert shown.controller.search.penalty == "length"
    commands["penalty_none"].trigger()
    assert "the score is log P; α has no effect" in bar.alpha_box.toolTip()


def test_the_palette_finds_a_command_by_its_words(shown: Shown, qtbot: QtBot) -> None:
    shown.window.help.show_palette()
    palette = shown.window.findChild(Palette)
    assert palette.field.hasFocus()
    qtbot.keyClicks(palette.field, "dark them")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert shown.themes.theme is DARK
    qtbot.waitUntil(lambda: shown.window.findChild(Palette) is None)


def test_the_palette_finds_what_the_heatmap_shows(shown: Shown, qtbot: QtBot) -> None:
    shown.window.show_view("links")
    for typed, quantity in (("heatmap alti", Quantity.ALTI), ("heatmap weight", Quantity.WEIGHT)):
        shown.window.help.show_palette()
        palette = shown.window.findChild(Palette)
        qtbot.keyClicks(palette.field, typed)
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        assert shown.session.options.quantity is quantity
        assert shown.window.commands[f"quantity_{quantity}"].isChecked()
        assert shown.window.stage.view() is shown.window.stage.of(Heatmap)
        qtbot.waitUntil(lambda: shown.window.findChild(Palette) is None)


def test_the_palette_is_walked_by_arrows_and_left_by_escape(shown: Shown, qtbot: QtBot) -> None:
    shown.press(
        Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    palette = shown.window.findChild(Palette)
    qtbot.keyClicks(palette.field, "attention")
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.list.currentItem().text(0) == "Head · Decoder self-attention"
    qtbot.keyClicks(palette.field, " nowhere")
    assert palette.list.currentItem() is None
    kind = shown.session.selection.kind
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: shown.window.findChild(Palette) is None)
    assert shown.session.selection.kind == kind


def drop(window: Window, *urls: QUrl) -> None:
    data = QMimeData()
    data.setUrls(list(urls))
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_a_dropped_file_is_opened(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, other = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    model.touch()
    other.touch()
    opened: list[Path] = []
    monkeypatch.setattr(shown.controller, "open", opened.append)
    drop(shown.window, QUrl.fromLocalFile(str(model)))
    drop(shown.window, QUrl("https://example.org/a.safetensors"))
    drop(shown.window, QUrl.fromLocalFile(str(model)), QUrl.fromLocalFile(str(other)))
    assert opened == [model]


def test_a_failed_load_shows_one_line_and_keeps_the_rest(shown: Shown, qtbot: QtBot) -> None:
    shown.controller.open(Path("bad.safetensors"))
    qtbot.waitUntil(shown.window.notice.isVisible)
    assert shown.window.notice.text == "bad.safetensors is truncated."
    qtbot.waitUntil(shown.shows("a b it c"))
    assert "good" in shown.window.windowTitle()


def test_the_scaling_is_a_command_that_shows_what_it_changes(shown: Shown) -> None:
    shown.press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert shown.window.stage.current == "scores"
    assert not shown.session.options.scores_scaled
    shown.press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert shown.session.options.scores_scaled


def test_the_theme_changes_live_and_is_remembered(shown: Shown) -> None:
    assert shown.themes.theme is LIGHT
    shown.window.commands["theme_dark"].trigger()
    assert shown.themes.theme is DARK
    assert shown.controller.settings.theme is ThemeChoice.DARK
    assert shown.window.commands["theme_dark"].isChecked()


def test_fields_for_numbers_follow_the_theme_even_when_disabled(shown: Shown) -> None:
    boxes = shown.window.findChildren(QAbstractSpinBox)
    assert not shown.window.model_bar.size_box.isEnabled()
    shown.window.commands["theme_dark"].trigger()
    grounds = {box.lineEdit().palette().color(QPalette.ColorRole.Base).name() for box in boxes}
    assert grounds == {DARK.paper}


def test_the_hint_comes_with_the_first_text_and_goes_with_an_edit(
    shown: Shown, qtbot: QtBot, tmp_path: Path
) -> None:
    window, controller = shown.window, shown.controller
    assert not window.hint.isVisible(), "it speaks of another text"
    window.show_text(FIRST_TEXT)
    qtbot.waitUntil(shown.shows(FIRST_TEXT))
    assert window.hint.isVisible()
    controller.show_trace(word_trace(FIRST_TEXT), tmp_path / "own.npz")
    assert not window.hint.isVisible(), "no model answers this"
    controller.translate(FIRST_TEXT)
    qtbot.waitUntil(window.hint.isVisible)
    qtbot.keyClicks(window.source.editor, "x")
    assert not window.hint.isVisible()
    window.show_text(FIRST_TEXT)
    qtbot.waitUntil(shown.shows(FIRST_TEXT))
    assert not window.hint.isVisible(), "it has been followed"


def test_samples_and_history(shown: Shown, qtbot: QtBot) -> None:
    menu = shown.window.samples.menu()
    sentence = next(action for action in menu.actions() if action.text().startswith("The animal"))
    sentence.trigger()
    qtbot.waitUntil(shown.shows(sentence.text()))
    assert shown.window.source.text() == sentence.text()
    assert shown.controller.settings.history[0] == sentence.text()
    shown.window.source.setFocus()
    qtbot.keyClicks(shown.window.source.editor, " Or")
    shown.press(Qt.Key.Key_Return)
    assert shown.controller.settings.history[0] == sentence.text() + " Or"


def test_markup_in_a_sentence_stays_text_in_the_menus(shown: Shown) -> None:
    shown.window.choose_text("a && b <b>&amp;</b> \n c")
    history = shown.window.commands.menu("&Text", "&History")
    history.aboutToShow.emit()
    assert history.actions()[0].text() == "a &&&& b <b>&&amp;</b> c"


@pytest.mark.parametrize("command", ["about", "shortcuts"])
def test_dialogs_open_and_close(shown: Shown, qtbot: QtBot, command: str) -> None:
    shown.window.commands[command].trigger()
    (dialog,) = shown.window.findChildren(QDialog)
    assert dialog.isVisible()
    assert dialog.grab().height() < 900
    dialog.reject()
    qtbot.waitUntil(lambda: not shown.window.findChildren(QDialog))


def test_the_about_box_names_data_and_licences(shown: Shown) -> None:
    shown.window.commands["about"].trigger()
    (dialog,) = shown.window.findChildren(QDialog)
    said = " ".join(label.text() for label in dialog.findChildren(QLabel))
    for word in ("Tatoeba", "CC BY 2.0 FR", "MIT"):
        assert word in said
    dialog.reject()


def test_another_model_keeps_the_sentence(shown: Shown, qtbot: QtBot) -> None:
    shown.controller.open(OTHER)
    qtbot.waitUntil(lambda: "other" in shown.window.windowTitle())
    qtbot.waitUntil(shown.shows("a b it c"))
    assert shown.window.source.text() == "a b it c"


def test_closing_saves_the_layout_and_ends_the_thread(qapp: QApplication, qtbot: QtBot) -> None:
    shown = Shown(qapp, qtbot)
    shown.window.resize(1111, 777)
    shown.window.close()
    assert "engine" not in {thread.name for thread in threading.enumerate()}
    assert shown.controller.settings.geometry[2:] == (1111, 777)
    assert len(shown.controller.settings.panels) == 3
    shown.window.deleteLater()


@pytest.fixture
def measuring(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Heads and distances of the model are being measured."""
    controller = shown.controller
    for desk in (controller.heads, controller.distance):
        monkeypatch.setattr(desk, "_child", FakeChild(desk))
        monkeypatch.setattr(desk, "_checksum", "known")
    controller.heads.measure(Question())
    controller.distance.measure()
    return shown


def test_closing_gives_up_what_is_measured_once_that_is_confirmed(measuring: Shown) -> None:
    window = measuring.window
    assert not window.close()
    (box,) = window.findChildren(QMessageBox)
    assert "The heads of good are being measured." in box.text()
    assert "How far good reaches is being measured." in box.text()
    next(button for button in box.buttons() if button.text() == "C&lose anyway").click()
    assert not window.isVisible()
    assert measuring.controller.running == []


def test_a_window_that_is_ended_from_outside_asks_nothing(measuring: Shown) -> None:
    assert not measuring.window.close()
    measuring.window.end()
    assert not measuring.window.isVisible()
    assert measuring.controller.running == []
