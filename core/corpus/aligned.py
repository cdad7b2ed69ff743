"""Aligned text from files: two columns of a TSV file, or two files line by line.

Files are read as bytes: UTF-8, and a line ends at \\n and nowhere else, so that U+2028, form feeds
and the like inside a sentence never shift the lines after them. What cannot be used is left out
as a whole pair, counted and reported.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path

from core.errors import UserError


class Problem(StrEnum):
    """What a line can have; the first three leave the pair out, the others are put right."""

    NOT_UTF8 = "not UTF-8"
    NO_TAB = "no tab"
    EMPTY = "an empty side"
    EXTRA_COLUMNS = "more than two columns (the first two are used)"
    CARRIAGE_RETURN = "a Windows line end (removed)"
    BYTE_ORDER_MARK = "a byte-order mark (removed)"


@dataclass(slots=True)
class ReadReport:
    """How the reading went; ``problems`` holds for each one its count and its first line."""

    name: str
    lines: int = 0
    pairs: int = 0
    problems: dict[Problem, tuple[int, int]] = field(default_factory=dict)

    def note(self, problem: Problem, line: int) -> None:
        count, first = self.problems.get(problem, (0, line))
        self.problems[problem] = (count + 1, first)

    def count(self, problem: Problem) -> int:
        return self.problems.get(problem, (0, 0))[0]

    def summary(self) -> str:
        """For people: "train.tsv: 12 lines, 10 pairs; 2 × an empty side (first: line 3)"."""
        parts = [f"{self.name}: {self.lines:,} lines, {self.pairs:,} pairs"]
        for problem in Problem:
            if problem in self.problems:
                count, first = self.problems[problem]
                parts.append(f"{count:,} × {problem} (first: line {first:,})")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class AlignedText:
    """Pairs of one source and one target sentence, none of them empty."""

    pairs: tuple[tuple[str, str], ...]
    report: ReadReport


def read_aligned(spec: str) -> AlignedText:
    """Read "FILE.tsv" or "SOURCE,TARGET".

    Raises:
        UserError: a file cannot be read, two files differ in length, or no pair is left.
    """
    names = spec.split(",")
    if Path(spec).is_file() or len(names) == 1:
        return read_tsv(Path(spec))
    if len(names) == 2:
        return read_file_pair(Path(names[0]), Path(names[1]))
    raise UserError(f"Data {spec!r} is neither FILE.tsv nor SOURCE,TARGET: it has too many commas.")


def read_tsv(path: Path) -> AlignedText:
    """Source and target in the first two tab-separated columns of each line."""
    report = ReadReport(path.name)
    return _collect(_tsv_rows(path, report), report)


def read_file_pair(source: Path, target: Path) -> AlignedText:
    """Line n of one file is the translation of line n of the other.

    Raises:
        UserError: the files have different numbers of lines, so which ones belong together is
            unknown.
    """
    report = ReadReport(f"{source.name}, {target.name}")
    return _collect(_file_pair_rows(source, target, report), report)


def read_lines(path: Path) -> list[str]:
    """All lines of a text file, empty ones included, without their line ends.

    Raises:
        UserError: the file cannot be read, or a line is not UTF-8.
    """
    report = ReadReport(path.name)
    lines = []
    for number, raw in _raw_lines(path, report):
        text = _decode(raw, number, report)
        if text is None:
            raise UserError(f"{path}, line {number:,} is not UTF-8; convert the file first.")
        lines.append(text)
    return lines


def group_by_source(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Each source once, in order of appearance, with all its different targets."""
    groups: dict[str, list[str]] = {}
    for source, target in pairs:
        targets = groups.setdefault(source, [])
        if target not in targets:
            targets.append(target)
    return groups


Row = tuple[int, str, str]


def _collect(rows: Iterator[Row], report: ReadReport) -> AlignedText:
    pairs = []
    for number, source, target in rows:
        source, target = source.strip(), target.strip()
        if source and target:
            pairs.append((source, target))
        else:
            report.note(Problem.EMPTY, number)
    report.pairs = len(pairs)
    if not pairs:
        raise UserError(f"No pair of sentences could be read. {report.summary()}.")
    return AlignedText(tuple(pairs), report)


def _tsv_rows(path: Path, report: ReadReport) -> Iterator[Row]:
    for number, raw in _raw_lines(path, report):
        report.lines = number
        text = _decode(raw, number, report)
        if text is None:
            continue
        columns = text.split("\t")
        if len(columns) == 1:
            report.note(Problem.NO_TAB if text.strip() else Problem.EMPTY, number)
            continue
        if len(columns) > 2:
            report.note(Problem.EXTRA_COLUMNS, number)
        yield number, columns[0], columns[1]


def _file_pair_rows(source: Path, target: Path, report: ReadReport) -> Iterator[Row]:
    source_lines = list(_raw_lines(source, report))
    target_lines = list(_raw_lines(target, report))
    if len(source_lines) != len(target_lines):
        raise UserError(
            f"{source} has {len(source_lines):,} lines and {target} {len(target_lines):,}, so they "
            f"are not aligned{_first_blank_on_one_side(source_lines, target_lines)}."
        )
    report.lines = len(source_lines)
    for (number, raw_source), (_, raw_target) in zip(source_lines, target_lines, strict=True):
        source_text = _decode(raw_source, number, report)
        target_text = _decode(raw_target, number, report)
        if source_text is not None and target_text is not None:
            yield number, source_text, target_text


def _first_blank_on_one_side(
    source: list[tuple[int, bytes]], target: list[tuple[int, bytes]]
) -> str:
    for left, right in zip_longest(source, target, fillvalue=(0, b"")):
        if bool(left[1].strip()) != bool(right[1].strip()):
            return f"; the first line blank on one side only is {left[0] or right[0]:,}"
    return ""


def _raw_lines(path: Path, report: ReadReport) -> Iterator[tuple[int, bytes]]:
    """Line numbers from 1 and bytes, without \\n, \\r\\n and byte-order mark."""
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.removesuffix(b"\n")
                if number == 1 and line.startswith(codecs.BOM_UTF8):
                    report.note(Problem.BYTE_ORDER_MARK, number)
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.endswith(b"\r"):
                    report.note(Problem.CARRIAGE_RETURN, number)
                    line = line.removesuffix(b"\r")
                yield number, line
    except OSError as error:
        raise UserError(f"Could not read {path}: {error.strerror or error}.") from error


def _decode(raw: bytes, number: int, report: ReadReport) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        report.note(Problem.NOT_UTF8, number)
        return None
