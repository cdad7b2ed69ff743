"""What is new in a translation since the one before it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"\S+")


def changed_spans(before: str, after: str) -> list[tuple[int, int]]:
    """Return [start, end) characters of `after` with words that `before` does not have in this
    order.

    Neighbouring words are one span. What was left out leaves no mark.
    """
    words = list(_WORD.finditer(after))
    matcher = SequenceMatcher(None, before.split(), [word.group() for word in words], False)
    return [
        (words[start].start(), words[stop - 1].end())
        for tag, _, _, start, stop in matcher.get_opcodes()
        if tag in ("replace", "insert")
    ]
