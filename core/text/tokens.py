"""A token as people see it: which piece of the vocabulary, and which characters it covers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

WORD_START = "▁"
_BYTE_PIECE = re.compile("<0x([0-9A-Fa-f]{2})>")


class TokenKind(StrEnum):
    PIECE = "piece"
    SPECIAL = "special"
    UNKNOWN = "unknown"
    BYTE = "byte"


@dataclass(frozen=True, slots=True)
class Token:
    """``start`` and ``end`` delimit the token's characters in the text, [start, end).

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
        if self.kind is TokenKind.PIECE:
            return self.piece.removeprefix(WORD_START) or WORD_START
        return self.piece

    @property
    def starts_word(self) -> bool:
        return self.kind is TokenKind.SPECIAL or any(
            text.startswith(WORD_START) for text in (self.piece, self.surface)
        )

    @property
    def byte(self) -> int | None:
        """What a byte piece such as ``<0xE2>`` stands for, 0 to 255."""
        found = _BYTE_PIECE.fullmatch(self.piece) if self.kind is TokenKind.BYTE else None
        return None if found is None else int(found[1], 16)
