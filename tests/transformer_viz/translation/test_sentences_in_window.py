"""A text of several sentences in the window, with real keys and clicks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.trace.npz import save_npz
from tests.transformer_viz.stage import GOOD, Stage, word_trace
from transformer_viz.shell.palette import Palette
from transformer_viz.shell.window import Window
from transformer_viz.state.linking import Place
from transformer_viz.state.options import ThemeChoice
from transformer_viz.state.session import Phase, Search
from transformer_viz.state.settings import SettingsFile
from transformer_viz.translation.growing_text import role_of
from transformer_viz.widgets.style import ThemeManager

FIRST, SECOND, THIRD = "It was Mr. A.", "It slept.", "Then  it woke."
TEXT = f"{FIRST} {SECOND}\n{THIRD}"
ALT = Qt.KeyboardModifier.AltModifier


class Shown(Stage):
    """A window that shows the first sentence of `TEXT`."""

    def __init__(self, app: QApplication, qtbot: QtBot) -> None:
        super().__init__()
        self.qtbot = qtbot
        self.window = Window(self.session, self.controller, ThemeManager(app, ThemeChoice.LIGHT))
        self.window.resize(1280, 720)
        self.window.show()
        self.controller.open(GOOD)
        self.window.show_text(TEXT)
        self.waits_for(FIRST)

    @property
    def strip(self):
        return self.window.sentences

    @property
    def editor(self):
        return self.window.source.editor

    def waits_for(self, sentence: str) -> None:
        self.qtbot.waitUntil(self.shows(sentence))

    def says(self, translation: str) -> None:
        self.qtbot.waitUntil(lambda: self.strip.text.toPlainText() == translation)

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = ALT) -> None:
        self.qtbot.keyClick(self.editor, key, modifier)


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(qapp, qtbot)
    yield made
    made.backend.gate.set()
    made.window.close()
    made.window.deleteLater()


def shown_part(shown: Shown) -> str:
    """The part of the English text that has not stepped back."""
    marks = shown.editor.extraSelections()  # which own their cursors
    others = [mark.cursor.selectedText() for mark in marks if role_of(mark) == "others"]
    text = shown.window.source.text().replace("\n", "\u2029")
    for other in others:
        text = text.replace(other, "", 1)
    return text


def test_one_sentence_has_no_strip(shown: Shown) -> None:
    shown.window.show_text("Mr. A. slept.")
    shown.waits_for("Mr. A. slept.")
    assert not shown.strip.isVisible()
    assert not shown.window.commands["next_sentence"].isEnabled()
    assert shown.controller.sentences.answers == (None,)


def test_the_sentences_are_translated_one_by_one(shown: Shown) -> None:
    assert shown.strip.isVisible()
    assert shown.strip.position.text() == "1 of 3"
    shown.says(TEXT.upper().replace("  ", " "))
    assert shown.session.trace.translation == FIRST.upper()
    assert {text for text, _search in shown.backend.explained} == {FIRST}
    assert set(sum(shown.backend.translated, ())) == {SECOND, THIRD}
    assert shown_part(shown) == FIRST
    assert shown.strip.text.accessibleDescription() == f"Sentence 1 of 3: {FIRST.upper()}"


def test_keys_step_through_them(shown: Shown) -> None:
    shown.says(TEXT.upper().replace("  ", " "))
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    assert shown.strip.position.text() == "2 of 3"
    assert shown_part(shown) == SECOND
    assert shown.window.source.caret == TEXT.index(SECOND)
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(THIRD)
    assert not shown.window.commands["next_sentence"].isEnabled()
    assert not shown.strip.forward.isEnabled()
    shown.press(Qt.Key.Key_PageDown)
    assert shown.session.index == 2
    asked = len(shown.backend.explained)
    shown.press(Qt.Key.Key_PageUp)
    shown.waits_for(SECOND)
    shown.press(Qt.Key.Key_PageUp)
    shown.waits_for(FIRST)
    assert len(shown.backend.explained) == asked, "they are still there"
    assert shown.window.source.text() == TEXT


def test_buttons_and_the_palette_step_too(shown: Shown, qtbot: QtBot) -> None:
    qtbot.mouseClick(shown.strip.forward, Qt.MouseButton.LeftButton)
    shown.waits_for(SECOND)
    qtbot.mouseClick(shown.strip.back, Qt.MouseButton.LeftButton)
    shown.waits_for(FIRST)
    shown.window.help.show_palette()
    palette = shown.window.findChild(Palette)
    qtbot.keyClicks(palette.field, "next sentence")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    shown.waits_for(SECOND)


def test_a_click_into_either_text_chooses_the_sentence(shown: Shown, qtbot: QtBot) -> None:
    shown.says(TEXT.upper().replace("  ", " "))
    for text, sentence in (
        (shown.strip.text, SECOND),
        (shown.editor, THIRD),
        (shown.editor, FIRST),
    ):
        cursor = QTextCursor(text.document())
        cursor.setPosition(text.toPlainText().lower().index(sentence.split()[-1].lower()))
        point = text.cursorRect(cursor).center() + QPoint(2, 0)
        qtbot.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=point)
        shown.waits_for(sentence)


def test_the_cursor_in_the_translation_chooses_it_by_keyboard(shown: Shown, qtbot: QtBot) -> None:
    shown.says(TEXT.upper().replace("  ", " "))
    shown.window.source.setFocus()
    qtbot.keyClick(shown.window.source, Qt.Key.Key_F6)
    assert shown.strip.text.hasFocus()
    qtbot.keyClick(shown.strip.text, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    shown.waits_for(THIRD)
    qtbot.keyClick(shown.strip.text, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(shown.strip.text, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == TEXT.upper().replace("  ", " ")
    assert shown.session.index == 2, "selecting is not choosing"


def test_typing_asks_for_the_sentence_at_the_cursor_alone(shown: Shown, qtbot: QtBot) -> None:
    shown.says(TEXT.upper().replace("  ", " "))
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    explained, translated = len(shown.backend.explained), len(shown.backend.translated)
    qtbot.keyClicks(shown.editor, "Yes, ")
    shown.waits_for("Yes, It slept.")
    shown.says(TEXT.replace(SECOND, "Yes, It slept.").upper().replace("  ", " "))
    assert shown.session.index == 1
    asked = {text for text, _search in shown.backend.explained[explained:]}
    assert all(text.startswith("Y") for text in asked)
    assert len(shown.backend.translated) == translated, "the others are known"
    qtbot.keyClicks(shown.editor, "No. ")
    shown.waits_for(SECOND)  # which begins at the cursor now
    assert shown.strip.position.text() == "3 of 4"


def test_typing_a_second_sentence_shows_it(shown: Shown, qtbot: QtBot) -> None:
    shown.window.show_text("It slept.")
    shown.waits_for("It slept.")
    shown.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(shown.editor, " Th")
    shown.waits_for("Th")
    assert shown.strip.isVisible()
    assert shown.strip.position.text() == "2 of 2"
    for _ in range(3):
        qtbot.keyClick(shown.editor, Qt.Key.Key_Backspace)
    shown.waits_for("It slept.")
    assert not shown.strip.isVisible()


def test_undo_goes_back_to_the_sentence_and_its_pin(shown: Shown, qtbot: QtBot) -> None:
    shown.session.pin(2)
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    shown.session.pin(0)
    shown.window.history.undo()
    shown.window.history.undo()
    shown.waits_for(FIRST)
    assert shown.session.selection.query == 2
    shown.window.history.redo()
    shown.waits_for(SECOND)
    shown.window.history.redo()
    assert shown.session.selection.query == 0
    assert shown.window.source.text() == TEXT


def test_a_switch_keeps_the_text_whole(shown: Shown) -> None:
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    whole = shown.window.commands["keep_whole"]
    whole.trigger()
    shown.waits_for(TEXT)
    assert whole.isChecked()
    assert not shown.strip.isVisible()
    assert shown.controller.settings.keep_whole
    assert shown_part(shown) == TEXT.replace("\n", "\u2029")
    whole.trigger()
    shown.waits_for(FIRST)
    assert not shown.controller.settings.keep_whole
    assert shown.strip.isVisible()


def test_a_trace_from_a_file_is_whole(shown: Shown, tmp_path: Path) -> None:
    trace = word_trace(f"{FIRST} {SECOND}")
    path = tmp_path / "t.npz"
    save_npz(trace, path)
    shown.window.open_file(path)
    shown.qtbot.waitUntil(lambda: shown.controller.trace_file == path)
    assert not shown.strip.isVisible()
    assert shown.session.sentence == shown.session.trace.text


def test_what_was_measured_as_one_is_shown_as_one(shown: Shown, qtbot: QtBot) -> None:
    shown.window.show_text(TEXT, whole=True)
    shown.waits_for(TEXT)
    assert not shown.strip.isVisible()
    shown.controller.set_search(Search(4, 0.6))
    shown.waits_for(TEXT)
    shown.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(shown.editor, "!")
    shown.waits_for(f"{THIRD}!")


def test_a_sentence_that_fails_is_named_and_the_others_are_there(
    shown: Shown, qtbot: QtBot
) -> None:
    shown.window.show_text(f"{FIRST} It went boom. {SECOND}")
    shown.waits_for(FIRST)
    shown.says(f"{FIRST} ⚠ {SECOND}".upper())
    assert "Cannot translate this." in shown.strip._explanation(len(FIRST) + 1)
    shown.press(Qt.Key.Key_PageDown)
    qtbot.waitUntil(lambda: shown.phase is Phase.FAILED)
    assert shown.session.status.message == "Cannot translate this."
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)


def test_pointing_is_at_the_words_of_the_sentence_shown(shown: Shown) -> None:
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    shown.window.source._point(TEXT.index("slept"))
    assert shown.session.pointed == Place("source", 1)
    marks = shown.editor.extraSelections()
    lit = [mark.cursor.selectedText() for mark in marks if role_of(mark) == "lit"]
    assert "slept." in lit
    assert set(lit) <= {"It", "slept."}
    shown.window.source._point(0)
    assert not shown.session.is_pointing


def test_swapping_puts_one_sentence_in_place(shown: Shown, qtbot: QtBot) -> None:
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    shown.window.show_view("compare")
    comparison = shown.controller.comparison
    comparison.choose_text("She slept.")
    qtbot.waitUntil(lambda: comparison.sides is not None)
    comparison.swap()
    shown.waits_for("She slept.")
    assert shown.session.text == TEXT.replace(SECOND, "She slept.")


def test_stretching_is_of_the_sentence_shown(shown: Shown) -> None:
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    stretching = shown.controller.stretching
    stretching.stretch(2)
    shown.waits_for("It more more slept.")
    assert shown.session.index == 1
    stretching.restore()
    shown.waits_for(SECOND)
    assert shown.session.text == TEXT


def test_hundreds_of_sentences_are_asked_for_in_small_pieces(shown: Shown, qtbot: QtBot) -> None:
    sentences = [f"It was {number}." for number in range(400)]
    shown.window.show_text(" ".join(sentences))
    shown.waits_for(sentences[0])
    qtbot.waitUntil(lambda: not shown.controller.sentences.asking, timeout=20_000)
    assert max(map(len, shown.backend.translated)) <= 4
    assert shown.strip.text.toPlainText() == " ".join(sentences).upper()
    shown.controller.choose_sentence(399)
    shown.waits_for(sentences[399])
    assert shown.strip.position.text() == "400 of 400"
    cursor = shown.strip.text.cursorRect()
    assert shown.strip.text.viewport().rect().contains(cursor.center()), "scrolled to it"


def test_another_search_and_heads_that_are_off_ask_again(shown: Shown) -> None:
    shown.says(TEXT.upper().replace("  ", " "))
    translated = len(shown.backend.translated)
    shown.controller.set_search(Search(4, 0.6))
    shown.qtbot.waitUntil(lambda: len(shown.backend.translated) == translated + 1)
    head = shown.session.selection.heads[0]
    shown.session.set_gates({head: 0.0})
    shown.qtbot.waitUntil(lambda: len(shown.backend.translated) == translated + 2)
    shown.waits_for(FIRST)


def test_the_session_file_remembers_the_sentence(shown: Shown, tmp_path: Path) -> None:
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    path = tmp_path / "s.tviz"
    shown.window.files.documents.save(path)
    shown.qtbot.waitUntil(path.exists)
    shown.window.show_text("Another text.")
    shown.waits_for("Another text.")
    shown.window.files.documents.unsaved.forget()  # so that nothing is asked
    shown.window.open_file(path)
    shown.waits_for(SECOND)
    assert shown.session.text == TEXT
    assert shown.window.source.text() == TEXT


def test_the_settings_remember_the_sentence(shown: Shown, tmp_path: Path) -> None:
    shown.press(Qt.Key.Key_PageDown)
    shown.waits_for(SECOND)
    shown.controller._file = SettingsFile(tmp_path)
    shown.controller.set_keep_whole(True)
    shown.waits_for(TEXT)
    shown.controller.set_keep_whole(False)
    shown.controller.choose_sentence(2)
    shown.waits_for(THIRD)
    shown.controller.save()
    settings, notice = SettingsFile(tmp_path).load()
    assert notice is None
    assert (settings.text, settings.sentence_start) == (TEXT, TEXT.index(THIRD))
    assert not settings.keep_whole
