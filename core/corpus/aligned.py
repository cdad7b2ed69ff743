"""Aligned text from files: two columns of a TSV file, or two files line by line.

Files are read as bytes: UTF-8, and a line ends at \\n and nowhere else, so that U+2028, form feeds
and the like inside a sentence never shift the lines after them. What cannot be used is left out
as a whole pair, counted and reported.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path

from core.corpus.line_reader import LONGEST_LINE, LineReader
from core.errors import UserError

NAMED_LINES = 20
_END = b"\n"  # stands where a file has ended; no line holds it

Row = tuple[int, str, str]  # number of the line, source, target


class Problem(StrEnum):
    """What a line can have; the first four leave the pair out, the others are put right."""

    NOT_UTF8 = "not UTF-8"
    TOO_LONG = f"more than {LONGEST_LINE:,} bytes long"
    NO_TAB = "no tab"
    EMPTY = "an empty side"
    EXTRA_COLUMNS = "more than two columns (the first two are used)"
    CARRIAGE_RETURN = "a Windows line end (removed)"
    BYTE_ORDER_MARK = "a byte-order mark (removed)"


@dataclass(slots=True)
class Found:
    """How often something was found, and the first lines that have it."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def note(self, line: int) -> None:
        self.count += 1
        if len(self.lines) < NAMED_LINES and line not in self.lines:
            self.lines.append(line)

    def describe(self, what: str) -> str:
        """ "12 × an empty side (lines 3, 8, 9, …)"."""
        numbers = ", ".join(f"{line:,}" for line in self.lines)
        more = ", …" if self.count > len(self.lines) == NAMED_LINES else ""
        return f"{self.count:,} × {what} (line{'s'[: len(self.lines) > 1]} {numbers}{more})"


@dataclass(slots=True)
class ReadReport:
    """How the reading went."""

    name: str
    lines: int = 0
    pairs: int = 0
    problems: dict[Problem, Found] = field(default_factory=dict)

    def note(self, problem: Problem, line: int) -> None:
        self.problems.setdefault(problem, Found()).note(line)

    def summary(self) -> str:
        """For people: "train.tsv: 12 lines, 10 pairs; 2 × an empty side (lines 3, 4)"."""
        return "; ".join(
            [
                f"{self.name}: {self.lines:,} lines, {self.pairs:,} pairs",
                *(
                    self.problems[problem].describe(problem)
                    for problem in Problem
                    if problem in self.problems
                ),
            ]
        )


def files_of(spec: str) -> list[Path]:
    """The one file of "FILE.tsv", the two of "SOURCE,TARGET"; raises UserError for more."""
    names = [spec] if Path(spec).is_file() else spec.split(",")
    if len(names) > 2:
        raise UserError(
            f"Data {spec!r} is neither FILE.tsv nor SOURCE,TARGET: it has too many commas."
        )
    return [Path(name) for name in names]


class AlignedReader:
    """Reads one TSV file or two aligned files once, row by row, whatever their size.

    Attributes:
        report: complete after the last row.
        size: bytes of the files on disk.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        """Raises UserError if a file cannot be opened."""
        self._files = [LineReader(path) for path in files]
        self.report = ReadReport(", ".join(file.path.name for file in self._files))
        self.size = sum(file.size for file in self._files)
        self._blank_on_one_side = 0

    @property
    def position(self) -> int:
        """Bytes of the files on disk that have been read."""
        return sum(file.position for file in self._files)

    def __iter__(self) -> Iterator[Row]:
        """Rows with two sides that are not empty.

        Raises:
            UserError: a file cannot be read; after the last row, that two files differ in length,
                so that which lines belong together is unknown, or that there was no row at all.
        """
        rows = self._columns() if len(self._files) == 1 else self._lines_of_two()
        for number, source, target in rows:
            source, target = source.strip(), target.strip()
            if source and target:
                self.report.pairs += 1
                yield number, source, target
            else:
                self.report.note(Problem.EMPTY, number)
                if source or target:
                    self._blank_on_one_side = self._blank_on_one_side or number
        if not self.report.pairs:
            raise UserError(f"No pair of sentences could be read. {self.report.summary()}.")

    def _columns(self) -> Iterator[Row]:
        """Source and target in the first two tab-separated columns of each line."""
        report = self.report
        for number, raw in enumerate(self._files[0], start=1):
            report.lines = number
            text = _text(raw, number, report)
            if text is None:
                continue
            columns = text.split("\t")
            if len(columns) == 1:
                report.note(Problem.NO_TAB if text.strip() else Problem.EMPTY, number)
                continue
            if len(columns) > 2:
                report.note(Problem.EXTRA_COLUMNS, number)
            yield number, columns[0], columns[1]

    def _lines_of_two(self) -> Iterator[Row]:
        """Line n of one file is the translation of line n of the other."""
        report = self.report
        shorter = None
        for raws in zip_longest(*self._files, fillvalue=_END):
            if _END in raws:
                shorter = shorter or (raws.index(_END), report.lines)
            report.lines += 1
            if shorter is None:
                source = _text(raws[0], report.lines, report)
                target = _text(raws[1], report.lines, report)
                if source is not None and target is not None:
                    yield report.lines, source, target
        if shorter is not None:
            lengths = [report.lines, report.lines]
            lengths[shorter[0]] = shorter[1]
            raise self._not_aligned(*lengths)

    def _not_aligned(self, source: int, target: int) -> UserError:
        where = ""
        if self._blank_on_one_side:
            where = f"; the first line blank on one side only is {self._blank_on_one_side:,}"
        names = [str(file.path) for file in self._files]
        return UserError(
            f"{names[0]} has {source:,} lines and {names[1]} {target:,}, so they are not "
            f"aligned{where}."
        )


def _text(raw: bytes | None, number: int, report: ReadReport) -> str | None:
    """A line without \\r and byte-order mark; None for one that cannot be used."""
    if raw is None:
        report.note(Problem.TOO_LONG, number)
        return None
    if number == 1 and raw.startswith(codecs.BOM_UTF8):
        report.note(Problem.BYTE_ORDER_MARK, number)
        raw = raw.removeprefix(codecs.BOM_UTF8)
    if raw.endswith(b"\r"):
        report.note(Problem.CARRIAGE_RETURN, number)
        raw = raw[:-1]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        report.note(Problem.NOT_UTF8, number)
        return None


@dataclass(frozen=True, slots=True)
class AlignedText:
    """Pairs of one source and one target sentence, none of them empty."""

    pairs: tuple[tuple[str, str], ...]
    report: ReadReport


def read_aligned(spec: str) -> AlignedText:
    """All of "FILE.tsv" or "SOURCE,TARGET" at once; raises UserError as ``AlignedReader`` does."""
    return _read_all(AlignedReader(files_of(spec)))


def read_tsv(path: Path) -> AlignedText:
    """All of a TSV file at once; raises UserError as ``AlignedReader`` does."""
    return _read_all(AlignedReader([path]))


def _read_all(reader: AlignedReader) -> AlignedText:
    pairs = tuple((source, target) for _, source, target in reader)
    return AlignedText(pairs, reader.report)


def read_lines(path: Path) -> list[str]:
    """All lines of a text file, empty ones included, without their line ends.

    Raises:
        UserError: the file cannot be read, or a line is not UTF-8.
    """
    report = ReadReport(path.name)
    lines = []
    for number, raw in enumerate(LineReader(path), start=1):
        text = _text(raw, number, report)
        if text is None:
            problem = next(
                one for one in (Problem.NOT_UTF8, Problem.TOO_LONG) if one in report.problems
            )
            raise UserError(f"{path}, line {number:,} is {problem}; put the file right first.")
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
