"""Words: where they are in a text, and which pieces make them up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from core.text.tokens import WORD_START, Token, TokenKind

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def find_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word of letters ("didn't" is one) in lower case, with its [start, end) characters."""
    for match in _WORD.finditer(text):
        yield match[0].casefold(), *match.span()


def words_in(text: str) -> Iterator[str]:
    """The words of `find_words` without their places, which takes half the time."""
    return map(str.casefold, _WORD.findall(text))


def first_pieces(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each word, given as ascending [start, end) characters, the token that begins it.

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
    """Return for each token the word that it belongs to: the last one begun."""
    words = [0] * len(tokens)
    for word, first in enumerate(first_pieces(tokens, spans)):
        words[first:] = [word] * (len(tokens) - first)
    return words


def word_spans(tokens: Sequence[Token]) -> list[range]:
    """The tokens of each written word, in order; every token is in one.

    A word reaches up to the next token that starts one. Specials are words of their own, and so
    is each piece of punctuation at either end of a word, as in (▁tired)(.) but not (▁didn ' t).
    """
    firsts = [index for index in range(len(tokens)) if _starts(tokens, index)]
    return [span for run in pairwise([*firsts, len(tokens)]) for span in _spans(tokens, *run)]


def word_span(tokens: Sequence[Token], index: int) -> range:
    """The one of `word_spans` that a token is in, found without the others."""
    first, stop = index, index + 1
    while not _starts(tokens, first):
        first -= 1
    while stop < len(tokens) and not _starts(tokens, stop):
        stop += 1
    return next(span for span in _spans(tokens, first, stop) if index in span)


def _starts(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word starts here, the punctuation before and after it included."""
    special = index > 0 and tokens[index - 1].kind is TokenKind.SPECIAL
    return index == 0 or tokens[index].starts_word or special


def _spans(tokens: Sequence[Token], first: int, stop: int) -> list[range]:
    """A word from one start to the next, and each piece of punctuation at its ends."""
    plain = [i for i in range(first, stop) if not is_punctuation(tokens[i])]
    begin, end = (plain[0], plain[-1] + 1) if plain else (stop, stop)
    return [
        *(range(i, i + 1) for i in range(first, begin)),
        *([range(begin, end)] if plain else []),
        *(range(i, i + 1) for i in range(end, stop)),
    ]


def join_pieces(tokens: Sequence[Token]) -> Token:
    """The pieces of one word as one token to show: its text, the characters it covers, no id.

    Bytes become the characters that they spell, or U+FFFD. A word with an unknown piece is unknown.
    """
    if len(tokens) == 1:
        return tokens[0]
    text = ""
    for is_byte, run in groupby(tokens, lambda token: token.kind is TokenKind.BYTE):
        if is_byte:
            spelled = _decoded(run).replace(" ", WORD_START)
            text += spelled if text else spelled.removeprefix(WORD_START)
        else:
            text += "".join("" if token.piece == WORD_START else token.label for token in run)
    unknown = any(token.kind is TokenKind.UNKNOWN for token in tokens)
    return Token(
        piece=WORD_START * tokens[0].piece.startswith(WORD_START) + text,
        kind=TokenKind.UNKNOWN if unknown else TokenKind.PIECE,
        start=tokens[0].start,
        end=tokens[-1].end,
        surface=text,
    )


def written(tokens: Iterable[Token]) -> str:
    """The text that the tokens spell, without the specials.

    Bytes are joined before they are decoded, so a character may come from several tokens. Bytes
    that spell none become U+FFFD.
    """
    return _decoded(token for token in tokens if token.kind is not TokenKind.SPECIAL).strip(" ")


def _decoded(tokens: Iterable[Token]) -> str:
    return b"".join(token.data for token in tokens).decode("utf-8", "replace")


def is_punctuation(token: Token) -> bool:
    """Whether a piece consists of punctuation marks alone."""
    text = token.piece.removeprefix(WORD_START)
    return (
        token.kind is TokenKind.PIECE
        and text != ""
        and all(unicodedata.category(character).startswith("P") for character in text)
    )
