"""The lessons that come with the program: every step is done, and every number measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.cli import main
from core.errors import UserError
from core.lessons.check import check_lesson
from core.lessons.lesson import parse_lesson, read_lesson
from core.lessons.library import course_folder, find_lesson, lesson_files, read_course

COURSE = lesson_files(course_folder())


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_every_step_of_a_lesson_can_be_done(path: Path) -> None:
    lesson = read_lesson(path)
    found = list(check_lesson(lesson))
    assert [one.text for one in found if one.is_problem] == []
    assert not [one.text for one in found if "never saw" in one.text]
    assert any(step.question for step in lesson.steps)
    assert lesson.minutes is not None


def test_names_are_found_with_and_without_their_number() -> None:
    (path,) = [one for one in COURSE if one.stem.endswith("-it")]
    assert find_lesson("it") == find_lesson(path.stem) == path
    with pytest.raises(UserError, match="There is no lesson 'this'; the course has: "):
        find_lesson("this")


def test_a_broken_lesson_hides_no_other(tmp_path: Path) -> None:
    shutil.copy(COURSE[0], tmp_path)
    (tmp_path / "broken.md").write_text("no front matter")
    lessons, problems = read_course(tmp_path)
    assert [lesson.path.name for lesson in lessons] == [COURSE[0].name]
    assert len(problems) == 1
    assert "broken.md, line 1" in problems[0]


def test_a_folder_of_lessons_is_found_and_its_readme_is_none(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\nA card of a model.")
    with pytest.raises(UserError, match="contains no lesson; a lesson is a file such as"):
        find_lesson(str(tmp_path))
    shutil.copy(COURSE[0], tmp_path)
    assert find_lesson(str(tmp_path)) == tmp_path
    assert lesson_files(tmp_path) == [tmp_path / COURSE[0].name]


WRONG = """---
title: Wrong
model: plain-en-de
---
## A head that is not there
```do
text: The animal slept.
head: encoder 9.1
```
## A word that is not there
```do
head: encoder 1.1
pin: moon
```
## Fine
The xylophone.
```do
text: The xylophone slept.
```
## A question about nothing
```ask
word: Which?
answer: heaviest moon
```
"""


def test_what_cannot_be_done_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.md"
    path.write_text(WRONG)
    assert main(["lesson", "check", str(path)]) == 1
    head, word, unknown, question, end = capsys.readouterr().out.splitlines()
    assert head.endswith("line 5: problem: “A head that is not there”: plain-en-de has no head "
                         "encoder:9.1.")  # fmt: skip
    assert "line 10: problem: “A word that is not there”: there is no word 'moon' here" in word
    assert unknown.endswith("line 15: the model never saw: xylophone.")
    assert "line 20: problem: “A question about nothing”: there is no word 'moon'" in question
    assert end.endswith("3 of its steps do not work")


def test_a_lesson_without_a_model_says_so() -> None:
    lesson = parse_lesson("---\ntitle: x\n---\n```do\ntext: Hello.\n```\n", Path("x.md"))
    (found,) = check_lesson(lesson)
    assert found.is_problem
    assert "the lesson names no model" in found.text


def test_the_course_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(COURSE)
    assert any(line.startswith("it ") for line in said)
