"""Which columns of a table are the two texts: the first two, unless numbers stand there.

Tatoeba exports id, text, id, text; mined corpora put a score in front. A first line that names the
columns is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LOOKED_AT = 100  # lines that the layout is taken from

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?(e[+-]?\d+)?%?", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_HEADER_WORD = re.compile(
    r"source|target|src|tgt|trg|texts?|sentences?|segment|translation|reference|original|id|score"
    r"|lang|language"
    r"|english|german|french|spanish|italian|dutch|portuguese|polish|russian|czech|swedish|danish"
    r"|finnish|romanian|turkish|arabic|chinese|japanese|korean"
    r"|deutsch|englisch|französisch|spanisch|italienisch|français|anglais|allemand|español|inglés"
    r"|en|de|fr|es|it|nl|pt|pl|ru|cs|sv|da|fi|ro|tr|ar|zh|ja|ko|us|gb"
    r"|eng|deu|ger|fra|fre|spa|ita|nld|dut|por|pol|rus|ces|cze|swe|dan|fin|ron|tur|ara|zho|cmn|jpn"
    r"|kor"
)
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table that contain source and target.

    Attributes:
        source, target: columns, from 0.
        header: whether the first line names the columns.
    """

    source: int = 0
    target: int = 1
    header: bool = False

    @property
    def in_words(self) -> str:
        return f"columns {self.source + 1} and {self.target + 1}"


def find_layout(rows: Sequence[Sequence[str]], chosen: tuple[int, int] | None) -> Layout | None:
    """The layout of a table with these first lines; None if it cannot be told.

    Args:
        rows: the cells of each line, at least two; there may be no line.
        chosen: the columns of source and target, from 0, where somebody named them.
    """
    numbers = _of_numbers(rows)
    columns = chosen or _of_text(rows, numbers)
    if columns is None:
        return None
    return Layout(*columns, header=_is_header(rows, columns, numbers))


def describe(row: Sequence[str]) -> str:
    """The first cells of a line, numbered for people: "1: “1001”, 2: “The …”"."""
    cells = enumerate(row[:6], start=1)
    return ", ".join(f"{number}: “{cell[:_SHOWN]}”" for number, cell in cells)


def guess(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The first two columns that do not hold numbers, from 1, or 1 and 2."""
    numbers = _of_numbers(rows)
    texts = [column for column in range(_width(rows)) if column not in numbers]
    return (texts[0] + 1, texts[1] + 1) if len(texts) > 1 else (1, 2)


def _width(rows: Sequence[Sequence[str]]) -> int:
    return max(map(len, rows), default=0)


def _of_numbers(rows: Sequence[Sequence[str]]) -> set[int]:
    """Columns that hold nothing but numbers, the first line apart if there are others."""
    body = rows[1:] or rows
    found = set()
    for column in range(_width(rows)):
        cells = [row[column].strip() for row in body if len(row) > column]
        if cells and all(map(_NUMBER.fullmatch, cells)):
            found.add(column)
    return found


def _of_text(rows: Sequence[Sequence[str]], numbers: set[int]) -> tuple[int, int] | None:
    texts = [column for column in range(_width(rows)) if column not in numbers]
    if not texts or (0 not in numbers and 1 not in numbers):
        return 0, 1
    return (texts[0], texts[1]) if len(texts) == 2 else None


def _is_header(rows: Sequence[Sequence[str]], columns: tuple[int, int], numbers: set[int]) -> bool:
    if len(rows) < 2 or max(columns) >= len(rows[0]):
        return False
    first = rows[0]
    named = numbers.intersection(range(len(first))) - set(columns)
    if any(not _NUMBER.fullmatch(first[column].strip()) for column in named):
        return True
    source, target = (first[column].strip().casefold() for column in columns)
    return source != target and _names_a_column(source) and _names_a_column(target)


def _names_a_column(cell: str) -> bool:
    words = [word for word in _BETWEEN_WORDS.split(cell) if word]
    return bool(words) and all(_HEADER_WORD.fullmatch(word.rstrip("0123456789")) for word in words)
