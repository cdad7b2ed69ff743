"""The lessons that come with the program, and those of a teacher's folder."""

from __future__ import annotations

import codecs
from importlib.resources import files
from pathlib import Path

from core.bundled import model_path
from core.errors import UserError
from core.files import is_folder, is_there, open_regular
from core.lessons.lesson import Lesson, read_lesson


def course_folder() -> Path:
    """Return the folder of the course that comes with the program."""
    return Path(str(files("resources"))) / "lessons"


def lesson_files(folder: Path) -> list[Path]:
    """Return the lessons of a folder, in the order of their names; its README is none."""
    return sorted(path for path in folder.glob("*.md") if path.stem.casefold() != "readme")


def holds_lessons(folder: Path) -> bool:
    """Return whether a file of the folder begins as a lesson does."""
    return any(_begins_as_lesson(path) for path in lesson_files(folder))


def _begins_as_lesson(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return file.read(6).removeprefix(codecs.BOM_UTF8).startswith(b"---")
    except UserError:
        return False


def read_course(folder: Path) -> tuple[list[Lesson], list[str]]:
    """Read the lessons of a folder; those that cannot be read are left out, with the reasons."""
    lessons, problems = list[Lesson](), list[str]()
    for path in lesson_files(folder):
        try:
            lessons.append(read_lesson(path))
        except UserError as error:
            problems.append(str(error))
    return lessons, problems


def find_lesson(name: str) -> Path:
    """Return the file of a lesson of the course, named with or without its number, or the path of
    another one, or of a folder of lessons.

    Raises:
        UserError: there is none of these.
    """
    course = lesson_files(course_folder())
    for path in course:
        if name in (path.stem, path.stem.partition("-")[2]):
            return path
    path = Path(name)
    if is_folder(path) and not holds_lessons(path):
        raise UserError(f"{path} contains no lesson; a lesson is a file such as {path / 'one.md'}.")
    if not is_there(path):
        names = ", ".join(path.stem.partition("-")[2] for path in course)
        raise UserError(f"There is no lesson {name!r}; the course has: {names}.")
    return path


def found_model(name: str, folder: Path) -> Path:
    """Return the bundled model of this name, or the file, which lies beside the lesson if its path
    is relative."""
    path = model_path(name)
    return path if path.is_absolute() else folder / path
