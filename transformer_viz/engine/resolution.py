"""Which head finds what "it" means: minimal pairs, and how often each head is right. Values, no Qt.

A minimal pair is two sentences that differ in one adjective, and so in the noun that "it" means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.heads import AttentionKind, Head
from core.text.tokens import TokenKind
from core.text.words import find_words
from core.trace.head_map import Entries, entries, map_row
from core.trace.trace import Floats, Trace

PRONOUNS = ("er", "sie", "es", "ihn", "ihm", "ihr")
KINDS = (AttentionKind.ENCODER_SELF, AttentionKind.CROSS)
"""Of decoder self-attention no source word can be asked for."""

MOST_HEADS = 8
Span = tuple[int, int]
"""[start, end) characters."""


@dataclass(frozen=True, slots=True)
class ItSentence:
    """A sentence with "it" and the noun that it means."""

    text: str
    it: Span
    noun: Span

    @property
    def means(self) -> str:
        return self.text[slice(*self.noun)].lower()


@dataclass(frozen=True, slots=True)
class ItPair:
    first: ItSentence
    second: ItSentence

    @property
    def sides(self) -> tuple[ItSentence, ItSentence]:
        return self.first, self.second

    @property
    def adjectives(self) -> tuple[str, str]:
        """The words in which they differ."""
        first, second = ([w.strip(".,?!") for w in one.text.split()] for one in self.sides)
        differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
        left, right = zip(*differing, strict=True) if differing else ((), ())
        return " ".join(left), " ".join(right)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Minimal pairs, and how often each head resolves them.

    Attributes:
        pairs: to choose from.
        both: for each head the share of `measured` held-out pairs in which the heaviest word is
            the noun meant, in both sentences.
    """

    pairs: tuple[ItPair, ...]
    both: Mapping[Head, float]
    measured: int

    def best(self, count: int = MOST_HEADS) -> list[Head]:
        """The heads that are ever right, the most often right ones first; and of each kind at
        least one, to be seen even where it never is."""
        order = sorted(self.both, key=lambda head: -self.both[head])
        right = [head for head in order if self.both[head] > 0][:count]
        leaders = {head.kind: head for head in reversed(order)}
        return right + [head for head in leaders.values() if head not in right]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The place that one head attends to from "it", or from the row that predicts its translation.

    Attributes:
        weights: of each word of the source, [W].
        right: whether the noun meant has the largest weight of all words that count.
        query: the row of the map.
    """

    weights: Floats
    right: bool
    query: int


def famous_pairs() -> tuple[ItPair, ...]:
    """Return the pairs that talks on attention begin with."""
    return tuple(
        ItPair(
            it_sentence(frame.format(first), noun),
            it_sentence(frame.format(second), other),
        )
        for frame, (first, noun), (second, other) in (
            (
                "The animal didn't cross the street because it was too {}.",
                ("tired", "animal"),
                ("wide", "street"),
            ),
            (
                "The horse didn't cross the river because it was too {}.",
                ("tired", "horse"),
                ("deep", "river"),
            ),
        )
    )


def it_sentence(text: str, noun: str) -> ItSentence:
    """A sentence whose first "it" means its first `noun`."""
    places = {word: span for word, *span in reversed(list(find_words(text)))}
    start, end = places["it"]
    first, last = places[noun]
    return ItSentence(text, (start, end), (first, last))


def word_columns(trace: Trace) -> Entries:
    """The words of the source, each with all its pieces."""
    return entries(trace.source_tokens, merge_words=True)


def look(trace: Trace, head: Head, sentence: ItSentence, words: Entries) -> Look | None:
    """Return where a head looks; None where the trace has no such row, because "it" is not
    translated by a pronoun."""
    it = _column(words, sentence.it)
    noun = _column(words, sentence.noun)
    if it is None or noun is None:
        return None
    if head.kind is AttentionKind.ENCODER_SELF:
        query = words.spans[it].start
    else:
        found = _pronoun_row(trace)
        if found is None:
            return None
        query = found
    weights, _allowed = map_row(trace, (head,), range(query, query + 1), words)
    counted = [
        column
        for column, token in enumerate(words.tokens)
        if token.kind is not TokenKind.SPECIAL and any(map(str.isalnum, token.label))
    ]
    if head.kind is AttentionKind.ENCODER_SELF:
        counted.remove(it)
    heaviest = counted[int(np.argmax(weights[counted]))]
    return Look(weights, heaviest == noun, query)


def noun_column(words: Entries, sentence: ItSentence) -> int | None:
    return _column(words, sentence.noun)


def _column(words: Entries, span: Span) -> int | None:
    """The word that holds the first of these characters."""
    start = span[0]
    inside = (
        column
        for column, token in enumerate(words.tokens)
        if token.kind is not TokenKind.SPECIAL and token.start <= start < token.end
    )
    return next(inside, None)


def _pronoun_row(trace: Trace) -> int | None:
    labels: Sequence[str] = [token.label.lower() for token in trace.predicted_tokens]
    return next((row for row, label in enumerate(labels) if label in PRONOUNS), None)
