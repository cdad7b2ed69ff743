"""Carrying out a recipe: a file of pairs for each source, and what was left out of it and why."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from random import Random

from core.corpus.aligned import group_by_source, pair_reader, read_aligned
from core.corpus.grammar.word_list import word_list
from core.corpus.recipe.recipe import LEXICON, Recipe, Source
from core.corpus.recipe.spelling import reformed
from core.corpus.spec import names_of
from core.counted import counted
from core.errors import UserError
from core.files import atomic_write_text, is_there, write_problem

Pair = tuple[str, str]

_MARKUP = re.compile(r"https?:|www\.|[\[\]{}<>_|`*\\]|^\W*;")
_SPACE = re.compile(r"\s+")
_ENDS = re.compile(r"[.?!…][\"'”“’)]*$")
_LETTERS = re.compile(r"[^\w@]+")
_LONG = 40  # characters


class Left(StrEnum):
    """A reason why a pair is left out."""

    HELD_OUT = "held out"
    TOO_LONG = "too long"
    MISALIGNED = "too different in length"
    UNTRANSLATED = "identical on both sides"
    MARKUP = "with program markup"
    REPEATED = "repeated"


@dataclass(slots=True)
class Prepared:
    """What became of one source.

    Attributes:
        name: of the file that was written.
        read, written: pairs; ``joined`` are lines of several pairs, besides ``written``.
        left_out: how many pairs for which reason.
    """

    name: str
    read: int = 0
    written: int = 0
    joined: int = 0
    left_out: Counter[Left] = field(default_factory=Counter)

    def summary(self) -> str:
        reasons = "".join(f", {count:,} {why}" for why, count in sorted(self.left_out.items()))
        joined = f" and {self.joined:,} lines of several" if self.joined else ""
        return (
            f"{self.name}: {counted(self.written, 'pair')}{joined} of {self.read:,} read{reasons}"
        )


def prepare(recipe: Recipe, folders: Sequence[Path], out: Path) -> Iterator[Prepared]:
    """Write a TSV file for each source of ``recipe`` into the folder ``out``, one by one.

    Every pair is in NFC, with single spaces and the German in today's spelling. The files depend
    on the recipe and the corpora alone.

    Args:
        folders: where the corpora that the recipe names are looked for, one after the other.

    Raises:
        UserError: a corpus cannot be read, a file cannot be written, or two sources would be
            written to files of one name.
    """
    names = [_file_name(source) for source in recipe.sources]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UserError(
            f"Two sources of the recipe would both be written to {twice[0]}; rename one."
        )
    out.mkdir(parents=True, exist_ok=True)
    work = _Preparation(recipe, folders)
    for name, source in zip(names, recipe.sources, strict=True):
        report = Prepared(name)
        rows = work.rows(source, report)
        try:
            atomic_write_text(out / name, "".join(f"{one}\t{other}\n" for one, other in rows))
        except OSError as error:
            raise UserError(write_problem(out / name, error)) from error
        yield report


class _Preparation:
    """Holds what the sources share: what is held out, and what has been written already."""

    def __init__(self, recipe: Recipe, folders: Sequence[Path]) -> None:
        self._recipe = recipe
        self._folders = folders
        self._held_out = {
            self._key(source)
            for spec in recipe.held_out
            for source in group_by_source(read_aligned(self._place(spec)).pairs)
        }
        self._seen: set[Pair] = set()

    def rows(self, source: Source, report: Prepared) -> list[Pair]:
        random = Random(f"{self._recipe.seed} {source.data}")
        kept = [
            pair for pair in map(_tidy, self._read(source)) if self._keeps(pair, source, report)
        ]
        rows: list[Pair] = []
        whole, part = divmod(source.weight, 1.0)
        for pair in kept:
            for _ in range(int(whole) + (random.random() < part)):
                rows.append(self._varied(pair, source, random))
        report.written = len(rows)
        joined = list(self._joined(rows, source, random))
        report.joined = len(joined)
        return rows + joined

    def _read(self, source: Source) -> Iterator[Pair]:
        if source.data == LEXICON:
            yield from word_list()
            return
        for _, english, german in pair_reader(self._place(source.data)):
            yield english, german

    def _keeps(self, pair: Pair, source: Source, report: Prepared) -> bool:
        report.read += 1
        why = self._left_out(pair, source)
        if why is not None:
            report.left_out[why] += 1
        self._seen.add(pair)
        return why is None

    def _left_out(self, pair: Pair, source: Source) -> Left | None:
        english, german = pair
        shorter, longer = sorted((len(english), len(german)))
        if self._key(english) in self._held_out:
            return Left.HELD_OUT
        if max(len(side.split()) for side in pair) > self._recipe.longest:
            return Left.TOO_LONG
        if longer >= _LONG and longer > self._recipe.lengths * shorter:
            return Left.MISALIGNED
        if english == german and len(english.split()) > 1:
            return Left.UNTRANSLATED
        if source.text_only and (_MARKUP.search(english) or _MARKUP.search(german)):
            return Left.MARKUP
        return Left.REPEATED if pair in self._seen else None

    def _varied(self, pair: Pair, source: Source, random: Random) -> Pair:
        if source.exchange:
            for exchange in self._recipe.exchanges:
                pair = exchange.apply(*pair, random)
        return pair

    def _joined(self, rows: Sequence[Pair], source: Source, random: Random) -> Iterator[Pair]:
        """Lines of two or three whole sentences with different sources, drawn from ``rows``."""
        whole = [pair for pair in rows if all(map(_ENDS.search, pair))]
        for pair in whole:
            if random.random() >= source.join:
                continue
            chosen = [pair, *random.sample(whole, min(len(whole), random.choice((1, 1, 2))))]
            english = " ".join(one for one, _ in chosen)
            german = " ".join(other for _, other in chosen)
            different = all(one[0] != other[0] for one, other in pairwise(chosen))
            if different and len(english.split()) <= self._recipe.longest:
                yield english, german

    def _key(self, english: str) -> str:
        """Alike for sentences that count as the same where something is held out."""
        for exchange in self._recipe.exchanges:
            english = exchange.masked(english)
        return _LETTERS.sub(" ", english.lower()).strip()

    def _place(self, spec: str) -> str:
        return ",".join(str(self._find(part)) for part in spec.split(","))

    def _find(self, name: str) -> Path:
        found = (folder / name for folder in self._folders if is_there(folder / name))
        return next(found, self._folders[-1] / name)


def _tidy(pair: Pair) -> Pair:
    """In NFC, with single spaces, the German in today's spelling."""
    english, german = (_SPACE.sub(" ", unicodedata.normalize("NFC", side)).strip() for side in pair)
    return english, reformed(german)


def _file_name(source: Source) -> str:
    if source.data == LEXICON:
        return f"{LEXICON}.tsv"
    return f"{Path(names_of(source.data)[0]).name.split('.')[0]}.tsv"
