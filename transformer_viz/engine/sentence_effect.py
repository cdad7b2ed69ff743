"""One sentence with heads off, as values that the engine and the window share."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from transformer_viz.state.gates import Gates


@dataclass(frozen=True, slots=True)
class WholeSentence:
    """The sentence with all heads on.

    Attributes:
        log_probability: natural logarithm of the probability of the translation.
    """

    translation: str
    log_probability: float


@dataclass(frozen=True, slots=True)
class SentenceEffect:
    """What changes when only the heads of ``gates`` are off.

    Attributes:
        change: of the log-probability of the translation from before; below 0 the heads support it.
        translation: what the search finds now.
        differs: whether that is another one.
    """

    gates: Gates
    change: float
    translation: str
    differs: bool


def new_words(before: str, after: str) -> list[tuple[str, bool]]:
    """The words of a translation, and which of them the one before has not at this place."""
    old, new = before.split(), after.split()
    fresh = [True] * len(new)
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        fresh[block.b : block.b + block.size] = [False] * block.size
    return list(zip(new, fresh, strict=True))
