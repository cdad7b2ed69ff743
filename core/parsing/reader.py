"""Files of bracketed trees as pairs of a sentence and its linearised tree."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from core.corpus.line_reader import LONGEST_LINE, LineReader
from core.corpus.read_report import Problem, ReadReport, Row
from core.errors import UserError
from core.parsing.gold import parsing_pair
from core.parsing.linear import CLOSING, closing
from core.parsing.trees import Tree, cleaned, read_trees

MOST_NAMES = 500


class TreeReader:
    """Reads a file of trees once, tree by tree, as ``core.corpus.aligned`` reads translations.

    Attributes:
        report: complete after the last row.
        size: bytes of the file on disk.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file; raises UserError if it cannot be opened."""
        self._file = LineReader(Path(path))
        self.report = ReadReport(self._file.path.name)
        self.size = self._file.size

    @property
    def position(self) -> int:
        """The number of bytes of the file on disk that have been read."""
        return self._file.position

    def trees(self) -> Iterator[tuple[int, Tree]]:
        """Yield each tree, cleaned, with the number of its first line.

        Raises:
            UserError: the file cannot be read, is not UTF-8, or contains something that is no
                tree; or it has no tree with words.
        """
        for number, tree in read_trees(self._lines(), self.report.name):
            kept = cleaned(tree)
            if kept is None:
                self.report.note(Problem.EMPTY, number)
            else:
                self.report.pairs += 1
                yield number, kept
        if not self.report.pairs:
            raise UserError(f"{self._file.path} contains no tree; choose a file of brackets.")

    def __iter__(self) -> Iterator[Row]:
        """Yield a row of line number, sentence and linearised tree for each tree.

        Raises:
            UserError: as ``trees``; or a tree's names cannot be told apart in its linear form.
        """
        for number, tree in self.trees():
            try:
                yield number, *parsing_pair(tree)
            except UserError as error:
                raise UserError(f"{self.report.name}, line {number:,}: {error}") from error

    def _lines(self) -> Iterator[str]:
        for number, raw in enumerate(self._file, start=1):
            self.report.lines = number
            if raw is None:
                raise UserError(
                    f"{self._file.path}, line {number:,} is {Problem.TOO_LONG}; put each tree on "
                    f"a line of its own, of at most {LONGEST_LINE:,} bytes."
                )
            try:
                yield raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{self._file.path}, line {number:,} is not UTF-8; convert the file first, "
                    "for example with iconv."
                ) from error


class Inventory(NamedTuple):
    """The names in linearised trees: labels of constituents, and tags; both sorted."""

    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def divided(self) -> list[str]:
        """The tokens that byte-pair encoding would divide, since they mix letters and signs."""
        signed = [name for name in (*self.labels, *self.tags) if not name.isalpha()]
        return [*map(closing, self.labels), *(name for name in signed if len(name) > 1)]

    @property
    def plain(self) -> list[str]:
        """The other tokens of more than one character."""
        return [name for name in (*self.labels, *self.tags) if name.isalpha() and len(name) > 1]


def take_inventory(targets: Iterable[str]) -> Inventory:
    """Collect the names in linearised trees.

    Raises:
        UserError: a name is a label here and a tag there, or there are more than ``MOST_NAMES``.
    """
    labels: set[str] = set()
    tags: set[str] = set()
    for target in targets:
        names = set(target.split(" "))
        closed = {name.removeprefix(CLOSING) for name in names if name.startswith(CLOSING)}
        labels |= closed
        tags |= {name for name in names if not name.startswith(CLOSING)} - closed
        if len(labels) + len(tags) > MOST_NAMES:
            raise UserError(
                f"The trees have more than {MOST_NAMES} labels and tags; remove functions and "
                "indices that are not written with a hyphen or an equals sign."
            )
    if both := sorted(labels & tags):
        raise UserError(
            f"{', '.join(both[:5])} is the label of a constituent in one tree and a tag in "
            "another; rename one of them."
        )
    return Inventory(tuple(sorted(labels)), tuple(sorted(tags)))
