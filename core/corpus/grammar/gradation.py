"""Which adjectives have degrees: "very", "older than", "the oldest"."""

from __future__ import annotations

from core.corpus.grammar.entries import Adjective

UNGRADED = [
    "abstract",
    "absurd",
    "black",
    "blind",
    "blue",
    "brilliant",
    "brown",
    "confidential",
    "correct",
    "deadly",
    "deaf",
    "delicious",
    "empty",
    "genuine",
    "gray",
    "green",
    "historic",
    "illegal",
    "independent",
    "magnificent",
    "necessary",
    "original",
    "red",
    "rural",
    "unexpected",
    "white",
    "worthless",
    "wrong",
    "yellow",
]


def gradable(adjective: Adjective) -> bool:
    return adjective.english not in UNGRADED
