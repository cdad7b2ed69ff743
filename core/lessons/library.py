"""The lessons that come with the program, and those of a teacher's folder."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from core.bundled import model_path
from core.errors import UserError
from core.files import is_folder, is_there
from core.lessons.lesson import Lesson, read_lesson


def course_folder() -> Path:
    """Return the folder of the course that comes with the program."""
    return Path(str(files("resources"))) / "lessons"


def lesson_files(folder: Path) -> list[Path]:
    """Return the lessons of a folder, in the order of their names."""
    return sorted(folder.glob("*.md"))


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
    another one.

    Raises:
        UserError: there is neither.
    """
    course = lesson_files(course_folder())
    for path in course:
        if name in (path.stem, path.stem.partition("-")[2]):
            return path
    path = Path(name)
    if not is_there(path) or is_folder(path):
        names = ", ".join(path.stem.partition("-")[2] for path in course)
        raise UserError(f"There is no lesson {name!r}; the course has: {names}.")
    return path


def found_model(name: str, folder: Path) -> Path:
    """Return the bundled model of this name, or the file, which lies beside the lesson if its path
    is relative."""
    path = model_path(name)
    return path if path.is_absolute() else folder / path
