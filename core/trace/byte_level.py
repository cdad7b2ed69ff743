"""Byte-level pieces: GPT-2's way to write any bytes as letters (Radford et al. 2019), which
RoBERTa, BART, Llama 3, Qwen and many others have adopted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.text.tokens import WORD_START

SPACE = "Ġ"
_LINE_END = "Ċ"
_HALF = re.compile("[\udc80-\udcff]")  # a byte that is no character's, see PEP 383
_LONGEST_CHARACTER = 4  # bytes


def _alphabet() -> dict[str, int]:
    """The bytes by their letters: those that Latin-1 can show stand for themselves, and the letters
    from U+0100 on stand for the rest."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {
        chr(0x100 + number): byte for number, byte in enumerate(others)
    }


_BYTES = _alphabet()


def from_byte_level(piece: str) -> str:
    """What the piece stands for, with ▁ for spaces and ``<0xE2>`` for each byte that is only part
    of a character. A piece with other letters was added to the vocabulary as plain text and stays
    as it is."""
    data = _data(piece)
    text = piece if data is None else data.decode("utf-8", "surrogateescape")
    return _HALF.sub(lambda half: f"<0x{ord(half[0]) - 0xDC00:02X}>", text).replace(" ", WORD_START)


def are_byte_level(pieces: Iterable[str]) -> bool:
    """Whether pieces that follow one another are byte-level ones.

    Their bytes are joined and read as UTF-8. Letters of another tokenizer hardly ever come out as
    UTF-8 beyond ASCII by chance: é alone would be half a character. Without a space or a line end
    among them, every byte has to fit, save those of a last character that was cut off. With one,
    most have to. Pieces that are ASCII alone read the same either way, and are not called
    byte-level.
    """
    joined, foreign, spaces = b"", 0, 0
    for piece in pieces:
        data = _data(piece)
        if data is None:
            foreign += 1
            data = b" "
        joined += data
        spaces += piece.count(SPACE) + piece.count(_LINE_END)
    text = joined.decode("utf-8", "surrogateescape")
    fit = sum(character > "\x7f" for character in text) - len(_HALF.findall(text))
    whole = _HALF.sub("", text[: 1 - _LONGEST_CHARACTER]) + text[1 - _LONGEST_CHARACTER :]
    unfit = foreign + len(text) - len(whole)
    return fit + spaces > unfit if spaces else fit > 0 and not unfit


def _data(piece: str) -> bytes | None:
    """None for a piece with letters outside the alphabet."""
    try:
        return bytes(_BYTES[letter] for letter in piece)
    except KeyError:
        return None
