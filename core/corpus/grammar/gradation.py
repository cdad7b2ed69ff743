"""Which adjectives have degrees: "very", "older than", "the oldest"."""

from __future__ import annotations

from core.corpus.grammar.entries import Adjective

UNGRADED = frozenset(
    "abstract absurd black blind blue brown confidential correct deadly deaf empty genuine gray "
    "green historic illegal necessary original red unexpected white worthless wrong yellow "
    "independent magnificent brilliant delicious rural".split()
)


def gradable(adjective: Adjective) -> bool:
    return adjective.english not in UNGRADED
