"""A lesson in the real window, with a model that answers as the test tells it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.lessons.lesson import EXAMPLES, VIEWS, Lesson, parse_lesson
from core.switches import Scaling, Switches
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.by_hand import sheet
from transformer_viz.lessons.state import state_at
from transformer_viz.shell.palette import Palette
from transformer_viz.shell.views import VIEW_NAMES
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager

LESSON = """---
title: Two words
model: other.safetensors
---
Welcome to <b>words</b>.

## First

It takes {weight two -> one}.

```do
text: one two three
view: links
head: encoder 2.3
pin: two -> one
point: heads
```

```ask
word: Which?
answer: heaviest two
because: Its weight is {weight two -> one}.
```

## Second

```do
text: four five
gate: encoder 1.1 off
```

```ask
yes: Is it in capitals?
answer: translation has four
```

## Third

```do
head: encoder 2.9
```
"""


class Taught(Stage):
    def __init__(self, app: QApplication, qtbot: QtBot) -> None:
        super().__init__()
        self.qtbot = qtbot
        themes = ThemeManager(app, ThemeChoice.LIGHT)
        self.window = Window(self.session, self.controller, themes)
        qtbot.addWidget(self.window)
        self.window.show()
        self.controller.open(GOOD)
        self.window.show_text("before the lesson")
        qtbot.waitUntil(self.shows("before the lesson"))
        self.commands = self.window.lessons
        self.page = self.commands.page

    @property
    def read(self) -> str:
        return self.page.text.toPlainText()

    def click(self, button: object) -> None:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)  # type: ignore[call-overload]

    def next(self, text: str) -> None:
        self.click(self.page.next)
        self.qtbot.waitUntil(self.shows(text))
        self.qtbot.waitUntil(lambda: not self.commands._director.is_busy)


@pytest.fixture
def lesson() -> Lesson:
    return parse_lesson(LESSON, Path("two-words.md"))


@pytest.fixture
def taught(qapp: QApplication, qtbot: QtBot) -> Iterator[Taught]:
    taught = Taught(qapp, qtbot)
    yield taught
    taught.window.close()


def test_the_key_shows_the_course_and_enter_begins_a_lesson(taught: Taught) -> None:
    QTest.keyClick(
        taught.window,
        Qt.Key.Key_L,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    contents = taught.commands.contents
    assert contents.isVisible()
    assert contents.list.hasFocus()
    assert contents.list.count() > 0
    assert contents.progress.text().startswith("0 of ")
    QTest.keyClick(contents.list, Qt.Key.Key_Return)
    assert taught.page.isVisible()
    assert taught.page.next.hasFocus()


def test_a_step_shows_everything_and_points_at_it(taught: Taught, lesson: Lesson) -> None:
    taught.commands.begin(lesson)
    assert taught.read == "Welcome to <b>words</b>."
    taught.next("one two three")
    session = taught.session
    assert session.model is not None
    assert session.model.path == OTHER
    assert taught.window.stage.current == "links"
    assert session.selection.primary.name == "encoder:2.3"
    assert (session.selection.query, session.selection.key) == (1, 0)
    assert taught.read == "It takes 0.25."
    ring, target = taught.commands.ring, taught.window.heads_map
    assert ring.isVisible()
    assert ring.geometry().contains(target.geometry().translated(target.parent().pos()).center())


def test_a_step_comes_back_whatever_was_changed(taught: Taught, lesson: Lesson) -> None:
    taught.commands.begin(lesson)
    taught.next("one two three")
    taught.window.show_text("something else")
    taught.qtbot.waitUntil(taught.shows("something else"))
    assert taught.read == "It takes …."
    taught.session.select(layer=0, head=0)
    taught.click(taught.page.again)
    taught.qtbot.waitUntil(taught.shows("one two three"))
    taught.qtbot.waitUntil(lambda: taught.session.selection.query == 1)
    assert taught.session.selection.primary.name == "encoder:2.3"


def test_back_undoes_a_step(taught: Taught, lesson: Lesson) -> None:
    taught.commands.begin(lesson)
    taught.next("one two three")
    taught.next("four five")
    assert len(taught.session.gates) == 1
    taught.click(taught.page.back)
    taught.qtbot.waitUntil(taught.shows("one two three"))
    taught.qtbot.waitUntil(lambda: not taught.session.gates)


def test_another_view_keeps_the_pin_and_another_head_does_not() -> None:
    steps = "## A\n```do\nview: reach\n```\n## B\n```do\nhead: encoder 1.1\n```\n"
    longer = parse_lesson(LESSON.partition("## Second")[0] + steps, Path("pins.md"))
    pin = state_at(longer, 1).pin
    assert pin is not None
    assert (state_at(longer, 2).view, state_at(longer, 2).pin) == ("reach", pin)
    assert state_at(longer, 3).pin is None


def test_a_lesson_can_show_every_view() -> None:
    assert set(VIEWS) == set(VIEW_NAMES)
    assert tuple(sheet.EXAMPLES) == EXAMPLES


def test_an_example_is_shown_and_one_s_own_numbers_come_back(taught: Taught) -> None:
    taught.session.change_options(by_hand="mine")
    text = "---\ntitle: T\n---\n```do\nview: by_hand\nexample: The river bank flooded.\n```\n"
    taught.commands.begin(parse_lesson(text, Path("t.md")))
    taught.qtbot.waitUntil(lambda: taught.window.stage.current == "by_hand")
    assert taught.session.options.by_hand == EXAMPLES[2]
    taught.click(taught.page.next)
    taught.qtbot.waitUntil(lambda: taught.session.options.by_hand == "mine")


def test_a_model_without_scaling_is_whole_again_at_the_end(taught: Taught) -> None:
    text = "---\ntitle: T\nmodel: other.safetensors\n---\n```do\ntext: a b\nscaling: off\n```\n"
    taught.commands.begin(parse_lesson(text, Path("t.md")))
    taught.qtbot.waitUntil(taught.shows("a b"))
    assert taught.session.switches == Switches(scaling=Scaling.OFF)
    taught.click(taught.page.next)
    taught.qtbot.waitUntil(taught.shows("before the lesson"))
    assert taught.session.is_intact


def test_the_end_brings_back_what_was_there(taught: Taught, lesson: Lesson) -> None:
    before = taught.session.selection
    taught.commands.begin(lesson)
    taught.next("one two three")
    taught.next("four five")
    taught.click(taught.page.next)
    taught.qtbot.waitUntil(lambda: taught.page.problem.isVisible())
    assert taught.page.problem.text() == "This model has no head encoder:2.9."
    assert taught.page.next.text() == "&Finish"
    taught.click(taught.page.next)
    taught.qtbot.waitUntil(taught.shows("before the lesson"))
    taught.qtbot.waitUntil(lambda: taught.session.selection == before)
    assert taught.session.model is not None
    assert taught.session.model.path == GOOD
    assert not taught.session.gates
    assert taught.window.stage.current == "heatmap"
    assert taught.controller.settings.lessons_done == ("two-words",)
    assert taught.commands.contents.isVisible()


def test_a_question_is_answered_by_what_the_model_does(taught: Taught, lesson: Lesson) -> None:
    taught.commands.begin(lesson)
    taught.next("one two three")
    question = taught.page.question
    assert question.text.text() == "Which?"
    words = [question.words.itemText(at) for at in range(question.words.count())]
    assert words == ["one", "two", "three", "</s>"]
    question.words.setCurrentText("three")
    taught.click(question.answer)
    assert question.verdict.text() == "Not three. Look again, and try once more."
    question.words.setCurrentText("two")
    taught.click(question.answer)
    assert question.verdict.text() == "Not quite. The answer is one. Its weight is 0.25."
    assert not question.answer.isEnabled()
    taught.click(taught.page.again)
    taught.next("four five")
    assert not question.words.isVisible()
    taught.click(question.yes)
    assert question.verdict.text() == "Right."


def test_the_answer_is_told_to_whom_asks(taught: Taught, lesson: Lesson) -> None:
    taught.commands.begin(lesson)
    taught.next("one two three")
    taught.click(taught.page.question.tell)
    assert taught.page.question.verdict.text() == "The answer is one. Its weight is 0.25."


def test_a_lesson_from_a_file_is_opened_like_any_file(taught: Taught, tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text("---\ntitle: Mine\n---\nMy own.")
    taught.window.open_file(path)
    assert taught.read == "My own."
    path.write_text("---\nno: lesson\n---\n")
    taught.window.open_file(path)
    assert "mine.md, line 2: the front matter has no 'no'" in taught.window.notice.text
    assert taught.read == "My own."


def test_a_folder_of_lessons_is_a_course_of_its_own(taught: Taught, tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.md").write_text(f"---\ntitle: Lesson {name}\n---\nHello.")
    taught.window.open_file(tmp_path)
    contents = taught.commands.contents
    assert contents.title.text() == tmp_path.name
    assert [contents.list.item(row).text() for row in range(2)] == ["Lesson a", "Lesson b"]
    QTest.keyClick(contents.list, Qt.Key.Key_Return)
    assert taught.read == "Hello."
    taught.click(taught.page.next)
    assert contents.progress.text() == "1 of 2 lessons done"
    assert contents.list.currentRow() == 1, "the next one is at hand"
    taught.click(contents.own)
    assert contents.list.count() > 2
    assert not contents.title.isVisible()
    empty = tmp_path / "empty"
    empty.mkdir()
    taught.window.open_file(empty)
    assert "contains no model" in taught.window.notice.text


def test_a_lesson_is_found_by_its_title_among_the_commands(taught: Taught) -> None:
    palette = Palette(taught.window.commands, taught.window, taught.commands.listed())
    palette.show()
    QTest.keyClicks(palette.field, "lesson query key")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert taught.commands.lesson is not None
    assert taught.commands.lesson.name == "query-key-value"


def test_one_comes_back_to_the_step_of_a_lesson(taught: Taught, lesson: Lesson) -> None:
    back = taught.window.commands["back_to_lesson"]
    assert not back.isEnabled()
    taught.commands.begin(lesson)
    taught.next("one two three")
    assert taught.commands.dock is not None
    taught.commands.dock.close()
    taught.window.show_text("something else")
    taught.qtbot.waitUntil(taught.shows("something else"))
    back.trigger()
    taught.qtbot.waitUntil(taught.shows("one two three"))
    assert taught.page.isVisible()
    taught.click(taught.page.contents)
    assert not back.isEnabled()


def test_the_first_hint_leads_to_the_course(taught: Taught) -> None:
    taught.window.hint.show_message("Hello.")
    taught.click(taught.window.hint.offered)
    assert taught.commands.contents.isVisible()
    assert taught.window.hint.isHidden()


def test_a_narrow_window_hides_the_inspector_while_lessons_are_shown(taught: Taught) -> None:
    taught.window.resize(1280, 720)
    assert taught.window.inspector.isVisible()
    taught.commands.show()
    taught.qtbot.waitUntil(lambda: taught.window.inspector.isHidden())
    assert taught.commands.dock is not None
    taught.commands.dock.close()
    taught.qtbot.waitUntil(lambda: taught.window.inspector.isVisible())
