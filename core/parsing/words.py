"""The words of a line, as the leaves of a tree are: punctuation marks are words of their own."""

from __future__ import annotations

import unicodedata

_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


def words_of(line: str, *, tokenized: bool = False) -> tuple[str, ...]:
    """Return the words of a line; round brackets become ``-LRB-`` and ``-RRB-``, as in treebanks.

    Punctuation at either end of what stands between spaces is separated from it mark by mark;
    that inside it is not, so "didn't" and "3.5" stay whole. Only punctuation, such as "...", stays
    together too. With ``tokenized`` nothing is separated.
    """
    chunks = line.split()
    if not tokenized:
        chunks = [word for chunk in chunks for word in _separated(chunk)]
    return tuple(chunk.translate(_BRACKETS) for chunk in chunks)


def _separated(chunk: str) -> list[str]:
    inside = [place for place, character in enumerate(chunk) if not _is_mark(character)]
    if not inside:
        return [chunk]
    first, end = inside[0], inside[-1] + 1
    return [*chunk[:first], chunk[first:end], *chunk[end:]]


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
