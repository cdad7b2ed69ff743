"""Files, undo, help and closing, as a user of the window meets them."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from core.trace.npz import save_npz
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.stage import GOOD, Stage
from transformer_viz.export import figure as figure_module
from transformer_viz.export.dialog import ExportDialog
from transformer_viz.export.exporter import Colors, Export, Format, Subject
from transformer_viz.export.figure import Figure, Shape
from transformer_viz.export.table import Dialect
from transformer_viz.shell.help import HelpDialog, guide
from transformer_viz.shell.panel_keys import PANEL_KEYS
from transformer_viz.shell.views import VIEW_NAMES
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.state.selection import Selection
from transformer_viz.widgets.dialogs import ErrorReport, LogDialog
from transformer_viz.widgets.style import ThemeManager

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


EMPTY = ("scores", "tree", "layers")  # for weights alone, a translator, and nothing measured
IT = Head(AttentionKind.ENCODER_SELF, 1, 2)


class Shown(Stage):
    """A window that shows the translation of "a b it c". Building it takes a second, so the tests
    share one, and each begins with the same."""

    def __init__(self, app: QApplication, log: Path) -> None:
        super().__init__()
        log.write_text("WARNING something\n")
        self.window = Window(
            self.session, self.controller, ThemeManager(app, ThemeChoice.LIGHT), log
        )
        self.window.resize(1280, 720)

    def begin(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.window.show()
        self.window.notice.close_message()
        self.window.show_view("heatmap")
        self.window.source.setFocus()
        self.window.show_text("a b it c", Selection(layer=1, head=2, query=2))
        if self.session.model is None:
            self.controller.open(GOOD)
        qtbot.waitUntil(self.shows("a b it c"))
        qtbot.waitUntil(lambda: self.session.selection.primary == IT)
        self.notices.clear()
        self.window.history.clear()
        self.window.files.documents.unsaved.forget()

    def end(self) -> None:
        self.controller.transfers.cancel()
        self.window.hide()

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier) -> None:
        self.qtbot.keyClick(QApplication.focusWidget() or self.window, key, modifier)

    def drop(self, *paths: Path) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        event = QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        self.window.dropEvent(event)

    def said(self) -> str:
        return self.window.status_line.currentMessage()


@pytest.fixture(scope="module")
def window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    made = Shown(qapp, tmp_path_factory.mktemp("log") / "log")
    yield made
    made.window.show()  # one that is closed already would not hear of it
    made.window.end()
    made.window.deleteLater()


@pytest.fixture
def shown(window: Shown, qtbot: QtBot) -> Iterator[Shown]:
    window.begin(qtbot)
    yield window
    window.end()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Path | str]:
    """What the dialogs for names answer with, and what they suggested."""
    answers: dict[str, Path | str] = {"open": "", "save": ""}

    def save(_parent: QWidget, _title: str, start: str, *_rest: object) -> tuple[str, str]:
        answers["suggested"] = start
        return str(answers["save"]), ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(answers["open"]), ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", save)
    return answers


# Dropping and opening


@pytest.mark.parametrize("way", ["drop", "open"])
def test_a_trace_is_opened(
    shown: Shown, qtbot: QtBot, tmp_path: Path, trace: Trace, asked: dict, way: str
) -> None:
    path = tmp_path / "a.npz"
    save_npz(trace, path)
    if way == "drop":
        shown.drop(path)
    else:
        asked["open"] = path
        shown.press(Qt.Key.Key_O, CONTROL)
    qtbot.waitUntil(shown.shows(trace.text))
    assert shown.window.source.text() == trace.text
    assert shown.session.status.message == "trace from a.npz"
    qtbot.keyClicks(shown.window.source.editor, "x")
    qtbot.waitUntil(shown.shows(shown.window.source.text()))


def test_a_dropped_text_is_translated(shown: Shown, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x it y\n")
    shown.drop(path)
    qtbot.waitUntil(shown.shows("x it y"))
    assert shown.window.source.text() == "x it y"
    menu = shown.window.commands.menu("&File", "&Recent files")
    menu.aboutToShow.emit()
    assert menu.actions()[0].text() == str(path)


def test_a_file_that_is_no_use_is_said_in_the_window(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    shown.drop(tmp_path / "a.png")
    assert "a.png is neither" in shown.window.notice.text


def test_what_could_not_be_opened_is_forgotten_with_the_next_file(
    shown: Shown, qtbot: QtBot, tmp_path: Path
) -> None:
    notice = shown.window.notice
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "a.tviz").write_text("{}")
    (tmp_path / "a.txt").write_text("x it y\n")
    shown.window.show_notice("The disk is full.")
    shown.drop(tmp_path / "a.png")
    shown.drop(tmp_path / "a.tviz")
    qtbot.waitUntil(lambda: "a.tviz" in notice.text)
    assert "a.png" not in notice.text
    shown.drop(tmp_path / "a.txt", tmp_path / "a.png")
    assert "Several files" in notice.text
    shown.drop(tmp_path / "a.txt")
    assert notice.text == "The disk is full."
    qtbot.waitUntil(shown.shows("x it y"))
    notice.close_message()
    shown.drop(tmp_path / "a.png")
    shown.drop(tmp_path / "a.txt")
    assert notice.isHidden()


def test_of_several_files_dropped_none_is_opened_and_why_is_said(
    shown: Shown, tmp_path: Path
) -> None:
    shown.drop(tmp_path / "a.npz", tmp_path / "b.npz")
    assert "Several files" in shown.window.notice.text
    assert shown.session.text == "a b it c"


# Sessions


def test_a_session_is_saved_and_opened_by_keys(
    shown: Shown, qtbot: QtBot, tmp_path: Path, asked: dict
) -> None:
    path = tmp_path / "mine.tviz"
    shown.window.show_view("links")
    shown.session.select(layer=0, head=1, query=2)
    selection = shown.session.selection
    asked["save"] = path.with_suffix("")  # the suffix is added
    shown.press(Qt.Key.Key_S, CONTROL)
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: shown.said() == f"Saved {path}.")
    shown.window.show_text("other")
    qtbot.waitUntil(shown.shows("other"))
    shown.window.show_view("heatmap")
    asked["open"] = path
    shown.press(Qt.Key.Key_O, CONTROL)
    qtbot.waitUntil(lambda: question(shown.window) is not None)
    answer(shown, QMessageBox.StandardButton.Discard)
    qtbot.waitUntil(shown.shows("a b it c"))
    assert shown.window.source.text() == "a b it c"
    assert shown.window.stage.current == "links"
    assert shown.session.selection == selection

    asked["save"] = "never asked"
    shown.session.select(head=0)
    shown.press(Qt.Key.Key_S, CONTROL)  # now it has a name
    qtbot.waitUntil(lambda: json.loads(path.read_text())["selection"]["head"] == 0)


def test_closing_asks_what_becomes_of_a_changed_session(
    shown: Shown, qtbot: QtBot, tmp_path: Path, asked: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run <b>hi<br>&amp; [*].tviz"
    window = shown.window
    monkeypatch.setattr(shown.controller, "close", lambda: None)
    asked["save"] = path
    shown.press(Qt.Key.Key_S, CONTROL | SHIFT)
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: shown.said() == f"Saved {path}.")
    assert not window.isWindowModified()
    assert window.windowTitle() == (
        "run <b>hi<br>&amp; [*][*].tviz[*] – good – Transformer Viz"  # Qt's way to write [*]
    )

    shown.session.select(head=0)
    assert window.isWindowModified()
    shown.press(Qt.Key.Key_Z, CONTROL)
    assert not window.isWindowModified(), "undone, it is as in the file"

    shown.session.select(head=0)
    for _ in range(2):
        assert not window.close(), "it does not wait for the answer"
    box = question(window)
    assert box is not None
    assert box.text() == f"Save the changes to {path.name}?"
    answer(shown, QMessageBox.StandardButton.Cancel)
    assert window.isVisible()
    assert window.isWindowModified()

    assert not window.close()
    qtbot.keyClick(question(window), Qt.Key.Key_Escape)
    assert question(window) is None
    assert window.isVisible()

    assert not window.close()
    qtbot.keyClick(question(window).defaultButton(), Qt.Key.Key_Return)  # saves
    qtbot.waitUntil(lambda: not window.isVisible())
    assert json.loads(path.read_text())["selection"]["head"] == 0

    window.show()
    shown.session.select(head=1)
    assert not window.close()
    answer(shown, QMessageBox.StandardButton.Discard)
    assert not window.isVisible()
    assert json.loads(path.read_text())["selection"]["head"] == 0


def test_a_session_that_cannot_be_saved_keeps_the_window_open(
    shown: Shown, qtbot: QtBot, tmp_path: Path, asked: dict
) -> None:
    path = tmp_path / "folder" / "mine.tviz"
    path.parent.mkdir()
    asked["save"] = path
    shown.press(Qt.Key.Key_S, CONTROL | SHIFT)
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: shown.said() == f"Saved {path}.")
    path.unlink()
    path.parent.rmdir()
    shown.session.select(head=0)
    assert not shown.window.close()
    answer(shown, QMessageBox.StandardButton.Save)
    qtbot.waitUntil(lambda: bool(shown.notices))
    assert str(path) in shown.notices[0]
    assert shown.window.isVisible()
    assert shown.window.isWindowModified()


def test_a_dialog_that_is_cancelled_does_nothing(shown: Shown, asked: dict) -> None:
    for command in ("open", "save_as"):
        shown.window.commands[command].trigger()
    assert shown.controller.running == []
    assert shown.notices == []


# Export


def test_the_view_is_exported_by_keys(
    shown: Shown, qtbot: QtBot, tmp_path: Path, asked: dict
) -> None:
    asked["save"] = tmp_path / "out.svg"
    shown.press(Qt.Key.Key_E, CONTROL)
    dialog = shown.window.findChild(ExportDialog)
    dialog.format.setCurrentIndex(dialog.format.findData(Format.SVG))
    dialog.save.click()
    qtbot.waitUntil((tmp_path / "out.svg").exists)
    svg = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert svg.count("<text") > 8
    assert str(asked["suggested"]).endswith("heatmap-encoder-self-attention-layer-2-head-3.svg")
    qtbot.waitUntil(lambda: not shown.controller.running)
    shown.window.commands["export"].trigger()
    again = shown.window.findChild(ExportDialog)
    assert again.export.format is Format.SVG, "the choice is kept"
    again.reject()


@pytest.mark.parametrize("view", ["scores", "compare"])
def test_a_view_without_a_picture_says_so_in_the_dialog(
    shown: Shown, qtbot: QtBot, view: str
) -> None:
    """The trace has no scores, and nothing was chosen to compare with."""
    shown.controller.comparison.choose_text(None)
    shown.window.show_view(view)
    qtbot.waitUntil(lambda: not shown.window.is_drawing())
    shown.window.commands["export"].trigger()
    dialog = shown.window.findChild(ExportDialog)
    assert not dialog.save.isEnabled()
    assert not dialog.copy.isEnabled()
    assert "This view has no picture to export yet." in {
        label.text() for label in dialog.findChildren(QLabel)
    }
    dialog.subjects.button(list(Subject).index(Subject.HEADS)).click()
    assert dialog.save.isEnabled()
    dialog.reject()
    shown.window.commands["copy_picture"].trigger()
    assert shown.notices == ["This view has no picture to export yet."]


def test_the_heads_map_is_exported_whole(shown: Shown) -> None:
    image = shown.window.files.exporter.preview(Export(Subject.HEADS, Format.PNG))
    size = shown.window.heads_map.picture.export_size()
    assert image.height() >= 1.6 * size.height(), "only what is blank around it is left out"
    assert image.pixelColor(0, 0) == shown.window.theme.color("paper")


@pytest.mark.parametrize("view", [*(view for view in VIEW_NAMES if view not in EMPTY), None])
def test_a_dark_window_exports_what_a_light_one_does(
    shown: Shown, qtbot: QtBot, view: str | None
) -> None:
    """`view` None stands for the heads map."""
    window, exporter = shown.window, shown.window.files.exporter
    if view is not None:
        window.show_view(view)
    if view == "compare":
        shown.controller.comparison.choose_text("a b that c")
    qtbot.waitUntil(lambda: window.stage.view().has_picture and not window.is_drawing())
    as_shown = Export(Subject.HEADS if view is None else Subject.VIEW, Format.PNG)
    shown.controller.change_settings(theme=ThemeChoice.DARK)
    try:
        dark = exporter.preview(as_shown)
        as_light = exporter.preview(replace(as_shown, colors=Colors.LIGHT))
        assert exporter.preview(as_shown) == dark, "the view is as before"
    finally:
        shown.controller.change_settings(theme=ThemeChoice.LIGHT)
    assert exporter.preview(as_shown) == as_light
    assert dark != as_light, "something is painted"


def test_pictures_and_tables_go_to_the_clipboard(shown: Shown, qtbot: QtBot) -> None:
    shown.press(Qt.Key.Key_C, CONTROL | SHIFT)
    image = QImage(QGuiApplication.clipboard().mimeData().imageData())
    exporter = shown.window.files.exporter
    assert image == exporter.preview(Export(Subject.VIEW, Format.PNG)).convertToFormat(
        image.format()
    )
    assert "clipboard" in shown.said()
    shown.window.commands["copy_matrix"].trigger()
    qtbot.waitUntil(lambda: "\t" in QGuiApplication.clipboard().text())
    corner, first, *_ = QGuiApplication.clipboard().text().split("\t")
    assert "weight" in corner
    assert first == "▁a"


# Undo


def test_typing_and_selecting_are_undone_from_the_text_field(shown: Shown, qtbot: QtBot) -> None:
    editor = shown.window.source.editor
    shown.window.source.setFocus()
    assert not shown.window.commands["undo"].isEnabled()
    shown.session.select(layer=0, head=0)
    first = shown.session.selection
    qtbot.keyClicks(editor, " de")
    qtbot.waitUntil(shown.shows("a b it c de"))
    shown.press(Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(shown.shows("a b it c"))
    assert shown.window.source.text() == "a b it c"
    assert shown.session.selection == first
    shown.press(Qt.Key.Key_Z, CONTROL)
    assert shown.session.selection.layer == 1
    assert not shown.window.commands["undo"].isEnabled()
    for _ in range(2):
        shown.press(Qt.Key.Key_Z, CONTROL | SHIFT)
    qtbot.waitUntil(shown.shows("a b it c de"))
    assert not shown.window.commands["redo"].isEnabled()


# Help


def test_the_guide_is_searched_without_a_network(shown: Shown, qtbot: QtBot) -> None:
    shown.press(Qt.Key.Key_F1, SHIFT)
    dialog = shown.window.findChild(HelpDialog)
    assert dialog.contents.count() > 10
    qtbot.keyClicks(dialog.search, "saturates")
    assert dialog.text.textCursor().selectedText() == "saturates"
    qtbot.keyClicks(dialog.search, "qqq")
    assert "not found" in {label.text() for label in dialog.findChildren(QLabel)}
    row = next(
        row for row in range(dialog.contents.count()) if "Keys" in dialog.contents.item(row).text()
    )
    dialog.contents.setCurrentRow(row)
    assert dialog.text.textCursor().block().text() == "Keys"
    dialog.close()


def test_the_guide_speaks_of_every_view_and_statistic(shown: Shown) -> None:
    text = guide().lower()
    for number in range(shown.window.stage.tabs.count()):
        assert f"### {shown.window.stage.tabs.tabText(number).lower()}" in text
    for word in ("entropy", "confidence", "mean distance", "special tokens", "sink", "score"):
        assert word in text
    assert "](http" not in text


def test_the_log_is_shown_and_copied(shown: Shown) -> None:
    shown.window.commands["log"].trigger()
    dialog = shown.window.findChild(LogDialog)
    assert "WARNING something" in dialog.text.toPlainText()
    next(b for b in dialog.buttons.buttons() if b.text() == "&Copy").click()
    assert QGuiApplication.clipboard().text() == "WARNING something\n"
    dialog.reject()


def test_diagnostics_hold_nothing_that_was_typed(shown: Shown) -> None:
    shown.window.show_text("secret words")
    shown.window.commands["diagnostics"].trigger()
    text = QGuiApplication.clipboard().text()
    for word in ("Python", "PySide6", "Qt ", "offscreen", "2+2 layers"):
        assert word in text
    assert "secret" not in text
    assert str(Path.home()) not in text


def test_an_error_report_can_be_copied(shown: Shown) -> None:
    report = ErrorReport("It broke.", "Traceback …", shown.window)
    report.open()
    next(b for b in report.buttons.buttons() if b.text() == "&Copy").click()
    assert QGuiApplication.clipboard().text() == "Traceback …"
    report.reject()
    assert shown.window.source.text() == "a b it c"


# Closing


def question(window: Window) -> QMessageBox | None:
    """The one that is open."""
    boxes = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert len(boxes) < 2
    return boxes[0] if boxes else None


def answer(shown: Shown, button: QMessageBox.StandardButton) -> None:
    """Press a button of the open question by a key."""
    box = question(shown.window)
    assert box is not None
    shown.qtbot.keyClick(box.button(button), Qt.Key.Key_Space)
    shown.window.activateWindow()  # as a window manager does


def test_closing_asks_while_a_file_is_being_saved(
    shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def slow(progress: object) -> None:
        go.wait(10)
        progress(1, 2)

    window = shown.window
    shown.controller.transfers.save("a.npz", slow, lambda _: pytest.fail("it was given up"))
    qtbot.waitUntil(window.progress.isVisible)
    for _ in range(2):
        assert not window.close(), "it does not wait for the answer"
    box = question(window)
    assert box is not None
    assert box.text() == "a.npz is being saved. Close anyway?"
    cancel = box.button(QMessageBox.StandardButton.Cancel)
    assert box.defaultButton() is cancel
    cancel.click()
    assert window.isVisible()
    assert shown.controller.running

    assert not window.close()
    again = question(window)
    assert again is not None
    closed: list[bool] = []
    monkeypatch.setattr(shown.controller, "close", lambda: closed.append(True))
    next(button for button in again.buttons() if button.text() == "C&lose anyway").click()
    assert closed == [True]
    assert not window.isVisible()
    assert shown.controller.running == []
    go.set()


def test_a_saving_can_be_cancelled_in_the_window(shown: Shown, qtbot: QtBot) -> None:
    go = threading.Event()
    shown.controller.transfers.save("a.npz", lambda _: go.wait(10), lambda _: None)
    qtbot.waitUntil(shown.window.progress.isVisible)
    shown.window.progress.cancel.click()
    assert not shown.window.progress.isVisible()
    assert shown.controller.running == []
    go.set()


# Every command


def test_every_command_is_in_the_menus_and_the_palette(shown: Shown) -> None:
    listed = {action.objectName() for action, _name, _keys in shown.window.commands.listed()}
    assert listed == {action.objectName() for action in shown.window.commands}


def test_the_sheet_of_shortcuts_fits_and_lists_every_key(shown: Shown, qtbot: QtBot) -> None:
    shown.window.commands["shortcuts"].trigger()
    (dialog,) = shown.window.findChildren(QDialog)
    assert dialog.height() <= shown.window.height()
    said = {label.text() for label in dialog.findChildren(QWidget) if hasattr(label, "text")}
    for _action, _name, keys in shown.window.commands.listed():
        assert not keys or keys in said
    for panel, known in PANEL_KEYS.items():
        assert {f"In the {panel}", *(keys.does for keys in known)} <= said
        assert {keys.text() for keys in known} <= said
    dialog.reject()


def test_the_view_is_remembered(shown: Shown) -> None:
    shown.window.show_view("scores")
    assert shown.controller.settings.view == "scores"


# Figures for slides


@pytest.mark.parametrize("view", ["heatmap", "links", "reach", "decoding"])
def test_a_slide_has_its_shape_and_says_what_it_is_of(
    shown: Shown, qtbot: QtBot, tmp_path: Path, view: str
) -> None:
    window = shown.window
    window.show_view(view)
    qtbot.waitUntil(lambda: window.stage.view().has_picture and not window.is_drawing())
    qtbot.wait(50)  # until the window is laid out with its first hint
    exporter, size = window.files.exporter, window.stage.view().size()
    slide = Export(Subject.VIEW, Format.SVG, figure=Figure(Shape.SLIDE, 1280, 18))
    image = exporter.preview(slide)
    assert image is not None
    assert image.size() == 2 * QSize(1280, 720)
    assert window.stage.view().size() == size, "the window shows it as before"
    exporter.save(slide, tmp_path / "slide.svg")
    qtbot.waitUntil((tmp_path / "slide.svg").exists)
    assert QSvgRenderer(str(tmp_path / "slide.svg")).viewBox().size() == QSize(1280, 720)
    text = re.sub(r"<[^>]+>", "", (tmp_path / "slide.svg").read_text(encoding="utf-8"))
    for said in (shown.session.text, shown.session.trace.translation, shown.session.model.name):
        assert said in text
    qtbot.waitUntil(lambda: not shown.controller.running)


def test_the_dialog_makes_a_slide(shown: Shown, qtbot: QtBot) -> None:
    shown.press(Qt.Key.Key_E, CONTROL)
    dialog = shown.window.findChild(ExportDialog)
    dialog.shape.setCurrentIndex(dialog.shape.findData(Shape.SLIDE))
    dialog.format.setCurrentIndex(dialog.format.findData(Format.PNG))
    dialog.scale.setCurrentIndex(dialog.scale.findData(2))
    labels = {label.text() for label in dialog.findChildren(QLabel)}
    assert "2,560 × 1,440 pixels" in labels
    dialog.width_box.selectAll()
    QTest.keyClicks(dialog.width_box, "1,920")
    dialog.width_box.interpretText()
    dialog.text_size.setValue(20)
    dialog.caption.setChecked(False)
    assert dialog.export.figure == Figure(Shape.SLIDE, 1920, 20, caption=False)
    dialog.subjects.button(list(Subject).index(Subject.MATRIX)).click()
    assert not dialog.shape.isVisible()
    assert dialog.dialect.isVisible()
    assert dialog.export.dialect is Dialect.EXCEL
    dialog.reject()


@pytest.mark.parametrize("subject", [Subject.HEADS, Subject.VIEW])
@pytest.mark.parametrize("shape", Shape)
def test_a_picture_is_not_shrunk_with_its_text(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, subject: Subject, shape: Shape
) -> None:
    scales = []
    lay_out = figure_module._lay_out

    def noted(*arguments: object) -> object:
        layout = lay_out(*arguments)
        scales.append(layout.scale)
        return layout

    monkeypatch.setattr(figure_module, "_lay_out", noted)
    wanted = Export(subject, Format.PNG, figure=Figure(shape, 1280, 16))
    assert shown.window.files.exporter.preview(wanted) is not None
    assert max(scales) > 0.9
