"""transformer-viz lesson: the lessons of the course, and whether a teacher's lesson works."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.errors import UserError
from core.files import is_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "`transformer-viz lesson NAME` opens a lesson of the course, or one from a file, in the "
        "window."
    )
    parser.add_argument(
        "act", choices=("list", "check"), help="list the course, or run every step of lessons"
    )
    parser.add_argument(
        "lessons",
        nargs="*",
        metavar="LESSON",
        help="names, files or folders of lessons (default: the course)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command and return 1 if a step of a lesson cannot be done; raises UserError for a
    lesson that cannot be read."""
    from core.lessons.library import course_folder, read_course

    if args.act == "list":
        lessons, problems = read_course(course_folder())
        for lesson in lessons:
            print(f"{lesson.name:<20} {lesson.title}")
        if problems:
            raise UserError(problems[0])
        return 0
    wrong = sum(_check(path) for path in _files(args.lessons))
    return 1 if wrong else 0


def _files(names: list[str]) -> list[Path]:
    from core.lessons.library import course_folder, find_lesson, lesson_files

    if not names:
        return lesson_files(course_folder())
    found = list[Path]()
    for name in names:
        found += lesson_files(Path(name)) if is_folder(name) else [find_lesson(name)]
    return found


def _check(path: Path) -> int:
    """Print what every step finds; return how many things cannot be done."""
    from core.lessons.check import check_lesson
    from core.lessons.lesson import read_lesson

    lesson = read_lesson(path)
    wrong = 0
    for finding in check_lesson(lesson):
        wrong += finding.is_problem
        mark = "problem: " if finding.is_problem else ""
        print(f"{path}, line {finding.line:,}: {mark}{finding.text}", flush=True)
    print(f"{path}: {'every step works' if not wrong else f'{wrong} of its steps do not work'}")
    return wrong
