"""The words of two texts, those that correspond facing each other."""

from dataclasses import dataclass

from core.text.tokens import Token
from core.trace.alignment import GAP
from core.trace.difference import align_entries
from core.trace.head_map import entries


@dataclass(frozen=True, slots=True)
class Facing:
    """A word of A facing one of B; None if a side has none."""

    a: Token | None
    b: Token | None

    @property
    def differ(self) -> bool:
        return self.a is None or self.b is None or self.a.label != self.b.label


def facing_words(a: tuple[Token, ...], b: tuple[Token, ...]) -> tuple[Facing, ...]:
    """Return facing words in order, without special tokens."""
    first, second = (entries(tokens, merge_words=True, hide_specials=True) for tokens in (a, b))
    alignment = align_entries(first, second)
    return tuple(
        Facing(
            None if i == GAP else first.tokens[i],
            None if j == GAP else second.tokens[j],
        )
        for i, j in zip(alignment.first, alignment.second, strict=True)
    )
