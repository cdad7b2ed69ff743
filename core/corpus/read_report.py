"""How the reading of a file of translated text went: what was left out, what was put right."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from enum import StrEnum

from core.corpus.encoding import as_windows_1252
from core.corpus.line_reader import LONGEST_LINE
from core.counted import counted

NAMED_LINES = 20

Row = tuple[int, str, str]  # number of the line, source, target


class Problem(StrEnum):
    """What a line or unit can have; the last five leave no pair out."""

    NOT_UTF8 = "not UTF-8"
    TOO_LONG = f"more than {LONGEST_LINE:,} bytes long"
    NO_TAB = "no tab"
    NO_COLUMN = "fewer columns than were chosen"
    NO_LANGUAGE = "one of the languages is missing"
    UNKNOWN_ENTITY = "a character written as an unknown entity"
    CONTROL = "a character that XML does not allow, or one in another encoding"
    EMPTY = "an empty side"
    EXTRA_COLUMNS = "more than two columns (the first two are used)"
    HEADER = "a header (left out)"
    CARRIAGE_RETURN = "a Windows line end (removed)"
    BYTE_ORDER_MARK = "a byte-order mark (removed)"
    UNFINISHED = "no line end (the file may have been cut off there)"


BROKEN = frozenset(
    {
        *(Problem.NOT_UTF8, Problem.TOO_LONG, Problem.NO_TAB, Problem.NO_COLUMN),
        *(Problem.UNKNOWN_ENTITY, Problem.CONTROL),
    }
)


@dataclass(slots=True)
class Found:
    """How often something was found, and the first lines that have it."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def note(self, line: int) -> None:
        self.count += 1
        if len(self.lines) < NAMED_LINES and line not in self.lines:
            insort(self.lines, line)

    def describe(self, what: str, counted: str = "line") -> str:
        """Return "12 × an empty side (lines 3, 8, 9, …)"."""
        numbers = ", ".join(f"{line:,}" for line in self.lines)
        more = ", …" if self.count > len(self.lines) == NAMED_LINES else ""
        return f"{self.count:,} × {what} ({counted}{'s'[: len(self.lines) > 1]} {numbers}{more})"


@dataclass(slots=True)
class ReadReport:
    """How the reading went.

    Attributes:
        counted: what the numbers count, "line" or "unit".
        remarks: what else is to be known about the reading, as ends of a sentence.
    """

    name: str
    counted: str = "line"
    lines: int = 0
    pairs: int = 0
    problems: dict[Problem, Found] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def note(self, problem: Problem, line: int) -> None:
        self.problems.setdefault(problem, Found()).note(line)

    def note_not_utf8(self, line: int, raw: bytes) -> None:
        """Note a line that is not UTF-8, with the encoding that the first such line seems to
        have."""
        word = as_windows_1252(raw)
        if word is not None and Problem.NOT_UTF8 not in self.problems:
            self.remarks.append(
                f"in Windows-1252 (Latin-1) line {line:,} would read “{word}”: save it as UTF-8"
            )
        self.note(Problem.NOT_UTF8, line)

    @property
    def broken(self) -> int:
        """How many lines or units could not be read, as against empty ones."""
        return sum(found.count for problem, found in self.problems.items() if problem in BROKEN)

    def summary(self) -> str:
        """Describe the reading in words: "train.tsv: 12 lines, 10 pairs; 2 × an empty side (lines
        3, 4)"."""
        return "; ".join(
            [
                f"{self.name}: {counted(self.lines, self.counted)}, {counted(self.pairs, 'pair')}",
                *(
                    self.problems[problem].describe(problem, self.counted)
                    for problem in Problem
                    if problem in self.problems
                ),
                *self.remarks,
            ]
        )
