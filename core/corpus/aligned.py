"""Aligned text from files: two columns of a TSV file, two files line by line, or a TMX file.

Text files are read as bytes: UTF-8, and a line ends at \\n and nowhere else, so that U+2028, form
feeds and the like inside a sentence never shift the lines after them. What cannot be used is left
out as a whole pair, counted and reported.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path

from core.corpus.columns import LOOKED_AT, describe, find_layout, guess
from core.corpus.line_reader import LineReader
from core.corpus.read_report import Problem, ReadReport, Row
from core.corpus.spec import TMX, parse
from core.corpus.tmx import TmxReader
from core.errors import UserError

_END = b"\n"  # stands where a file has ended; no line holds it


def pair_reader(spec: str) -> PairReader:
    """Return a reader for whatever a spec names; raises UserError if a file cannot be opened."""
    files, languages, columns = parse(spec)
    if len(files) == 1 and TMX.search(files[0].name):
        return TmxReader(files[0], languages)
    return AlignedReader(files, columns)


class AlignedReader:
    """Reads one TSV file or two aligned files once, row by row, whatever their size.

    Attributes:
        report: complete after the last row.
        size: bytes of the files on disk.
    """

    def __init__(self, files: Sequence[Path], columns: tuple[int, int] | None = None) -> None:
        """
        Args:
            columns: of one file those of source and target, from 0; None: told by what they hold.

        Raises:
            UserError: a file cannot be opened.
        """
        self._chosen = columns
        self._files = [LineReader(path) for path in files]
        self.report = ReadReport(", ".join(file.path.name for file in self._files))
        self.size = sum(file.size for file in self._files)
        self._blank_on_one_side = 0

    @property
    def position(self) -> int:
        """The number of bytes of the files on disk that have been read."""
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
        """Source and target in two of the tab-separated columns of each line.

        Raises:
            UserError: which columns they are cannot be told.
        """
        report, lines = self.report, self._cells()
        first = list(islice(lines, LOOKED_AT))
        layout = find_layout([cells for _, cells in first], self._chosen)
        if layout is None:
            raise self._unclear(first)
        usual = self._chosen is None and (layout.source, layout.target) == (0, 1)
        if not usual:
            report.remarks.append(f"text from {layout.in_words}")
        if layout.header:
            report.note(Problem.HEADER, first.pop(0)[0])
        for number, cells in chain(first, lines):
            if max(layout.source, layout.target) >= len(cells):
                report.note(Problem.NO_COLUMN, number)
                continue
            if usual and len(cells) > 2:
                report.note(Problem.EXTRA_COLUMNS, number)
            yield number, cells[layout.source], cells[layout.target]

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        """Of each line that has a tab, with its number."""
        report = self.report
        for number, raw in enumerate(self._files[0], start=1):
            report.lines = number
            text = _text(raw, number, report)
            if text is None:
                continue
            cells = text.split("\t")
            if len(cells) == 1:
                report.note(Problem.NO_TAB if text.strip() else Problem.EMPTY, number)
            else:
                yield number, cells
        self._note_unfinished()

    def _unclear(self, first: Sequence[tuple[int, list[str]]]) -> UserError:
        path = self._files[0].path
        number, cells = first[-1]
        source, target = guess([cells for _, cells in first])
        return UserError(
            f"It is unclear which columns of {path} contain the two texts. Line {number:,} reads "
            f"{describe(cells)}. Name the columns of source and target, for example "
            f"{path.name}:{source}:{target}."
        )

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
        self._note_unfinished()

    def _note_unfinished(self) -> None:
        """Of two files, one without a last line end is enough: half of a line may be missing."""
        if any(file.unfinished for file in self._files):
            self.report.note(Problem.UNFINISHED, self.report.lines)

    def _not_aligned(self, source: int, target: int) -> UserError:
        where = ""
        if self._blank_on_one_side:
            where = (
                f"; the first line that is blank on one side only is {self._blank_on_one_side:,}"
            )
        names = [str(file.path) for file in self._files]
        return UserError(
            f"{names[0]} has {source:,} lines but {names[1]} has {target:,}, so they are not "
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
        report.note_not_utf8(number, raw)
        return None


PairReader = AlignedReader | TmxReader


@dataclass(frozen=True, slots=True)
class AlignedText:
    """All pairs of one source and one target sentence, none of them empty."""

    pairs: tuple[tuple[str, str], ...]
    report: ReadReport


def read_aligned(spec: str) -> AlignedText:
    """Read all pairs of a spec at once; raises UserError as its ``pair_reader`` does."""
    reader = pair_reader(spec)
    pairs = tuple((source, target) for _, source, target in reader)
    return AlignedText(pairs, reader.report)


def read_lines(path: Path) -> list[str]:
    """Read all lines of a text file, including empty ones, without their line ends.

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
            remark = "".join(f"; {one}" for one in report.remarks) or "; correct the file first"
            raise UserError(f"{path}, line {number:,} is {problem}{remark}.")
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
