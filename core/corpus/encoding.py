"""Which encoding a file that is not UTF-8 seems to have, to name it in a sentence."""

from __future__ import annotations

import codecs

_MARKS = {  # the longer ones first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_TYPOGRAPHIC = "„“”‚‘’«»‹›–—…€°§´¿¡·"
_SHOWN = 30


def wide_encoding(head: bytes) -> str | None:
    """Return UTF-16 or UTF-32 for the first bytes of such a text, with a byte-order mark or
    without."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    even, odd = head[::2], head[1::2]
    zeros = sorted((even.count(0), odd.count(0)))
    return "UTF-16" if len(head) >= 4 and zeros[0] == 0 and 2 * zeros[1] > len(odd) else None


def as_windows_1252(raw: bytes) -> str | None:
    """The first word that is not ASCII, if these bytes make sense as Windows-1252 (Latin-1)."""
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        return None
    beyond = [character for character in text if not character.isascii()]
    if not all(one.isalpha() or one in _TYPOGRAPHIC for one in beyond):
        return None
    word = next((word for word in text.split() if not word.isascii()), "")
    return word[:_SHOWN] or None
