"""A token as people see it: which piece of the vocabulary, and which characters it covers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

WORD_START = "▁"
BYTE_PIECES = re.compile("(?:<0x[0-9A-Fa-f]{2}>)+")  # a part of a character, byte by byte


class TokenKind(StrEnum):
    PIECE = "piece"
    SPECIAL = "special"
    UNKNOWN = "unknown"
    BYTE = "byte"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text; ``start`` and ``end`` delimit its characters in the text, [start, end).

    Specials cover no character, but for those that are typed (``>>fra<<``). ``surface`` is what an
    unknown token stands for in the text, its word mark included; the vocabulary only says
    ``<unk>``.
    """

    piece: str
    id: int = -1
    kind: TokenKind = TokenKind.PIECE
    start: int = 0
    end: int = 0
    surface: str = ""

    @property
    def label(self) -> str:
        """What to write on an axis: no word mark, unknown characters as they were typed."""
        if self.kind is TokenKind.UNKNOWN and self.surface:
            return self.surface.removeprefix(WORD_START)
        if self.kind in (TokenKind.PIECE, TokenKind.BYTE):
            return self.piece.removeprefix(WORD_START) or WORD_START
        return self.piece

    @property
    def starts_word(self) -> bool:
        return self.kind is TokenKind.SPECIAL or any(
            text.startswith(WORD_START) for text in (self.piece, self.surface)
        )

    @property
    def data(self) -> bytes:
        """The UTF-8 that the token contributes to its text, the word mark as a space.

        A byte token such as ``<0xE2><0x80>`` contributes part of a character only.
        """
        text = self.surface if self.kind is TokenKind.UNKNOWN and self.surface else self.piece
        if self.kind is not TokenKind.BYTE:
            return _encoded(text)
        data, end = b"", 0
        for found in BYTE_PIECES.finditer(text):
            data += _encoded(text[end : found.start()])
            data += bytes.fromhex(found[0].replace("<0x", "").replace(">", ""))
            end = found.end()
        return data + _encoded(text[end:])


def _encoded(text: str) -> bytes:
    return text.replace(WORD_START, " ").encode("utf-8", "surrogatepass")
