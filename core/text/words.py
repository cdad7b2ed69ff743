"""Words: where they are in a text, and which pieces make them up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.text.tokens import Token

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def find_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word of letters ("didn't" is one) in lower case, with its [start, end) characters."""
    for match in _WORD.finditer(text):
        yield match[0].casefold(), *match.span()


def first_pieces(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each word, given as ascending [start, end) characters, the token that begins it.

    A token that is only the space before a word begins that word.
    """
    firsts = []
    index = 0
    end_before = -1
    for _, end in spans:
        while tokens[index].end <= end_before:
            index += 1
        firsts.append(index)
        end_before = end
    return firsts


def words_of_pieces(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each token the word that it belongs to: the last one begun."""
    words = [0] * len(tokens)
    for word, first in enumerate(first_pieces(tokens, spans)):
        words[first:] = [word] * (len(tokens) - first)
    return words
