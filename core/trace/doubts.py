"""What speaks against a translation: guessed words, rare words, and words left untranslated.

Legend: T target tokens. NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from core.text.seen_words import UnsureWord
from core.text.tokens import Token, TokenKind
from core.text.words import join_pieces, word_spans
from core.trace.trace import Floats, Trace

GUESS = 0.5
"""A word below this probability is a guess: by the model's own estimate, it is more likely that
another word stands there."""

DOUBTFUL = 0.4
"""A translation with this many doubts for each of its words, or more, is probably wrong. A model
that ``evaluate --doubts --record`` measured has a threshold of its own."""

_MOST_NAMED = 3


class TargetWord(NamedTuple):
    """A word of a translation.

    Attributes:
        span: its tokens.
        probability: of all of them, given the source and the tokens before: their product.
        is_word: whether it has a letter or a digit; else it is punctuation, or the end.
    """

    span: range
    probability: float
    is_word: bool

    @property
    def is_guess(self) -> bool:
        """Return whether it is a word that is less probable than ``GUESS``."""
        return self.is_word and self.probability < GUESS


def target_words(
    tokens: Sequence[Token], log_probabilities: Floats | Sequence[float]
) -> tuple[TargetWord, ...]:
    """Return the words that the tokens spell, in order; every token is in one.

    Args:
        tokens: [T], as predicted, the end among them.
        log_probabilities: [T], natural logarithms.
    """
    logarithms = np.asarray(log_probabilities, dtype=np.float64)
    return tuple(
        TargetWord(
            span,
            math.exp(float(logarithms[span.start : span.stop].sum())),
            _is_word(tokens[span.start : span.stop]),
        )
        for span in word_spans(tokens)
    )


def predicted_words(trace: Trace | None) -> tuple[TargetWord, ...]:
    """Return the words of a trace's translation; nothing if it has no probabilities."""
    if trace is None or trace.log_probabilities is None or not trace.predicted_tokens:
        return ()
    return target_words(trace.predicted_tokens, trace.log_probabilities)


def _is_word(tokens: Sequence[Token]) -> bool:
    if any(token.kind is TokenKind.SPECIAL for token in tokens):
        return False
    return any(character.isalnum() for character in join_pieces(tokens).label)


class Uptake(NamedTuple):
    """What a translation has of a source word; ``core.analysis.uptake`` computes it.

    Attributes:
        span: the tokens of the word.
        nats: by how much the translation is more probable with the word than without it.
    """

    word: str
    span: range
    nats: float

    @property
    def is_untranslated(self) -> bool:
        """Return whether the translation is just as probable without the word."""
        return self.nats <= 0.0


@dataclass(frozen=True, slots=True)
class Doubts:
    """What speaks against one translation.

    Attributes:
        words: words of the translation, without punctuation.
        guesses: those of them that are less probable than ``GUESS``.
        unsure: source words that were never or rarely seen in training.
        untranslated: source words that no word of the translation takes up.
    """

    words: int
    guesses: int
    unsure: tuple[UnsureWord, ...] = ()
    untranslated: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        words: Sequence[TargetWord],
        unsure: Sequence[UnsureWord] = (),
        untranslated: Sequence[str] = (),
    ) -> Doubts:
        """Count the guesses among a translation's words, and add what is said of its source."""
        real = [word for word in words if word.is_word]
        return cls(
            len(real), sum(word.is_guess for word in real), tuple(unsure), tuple(untranslated)
        )

    @classmethod
    def joined(cls, parts: Iterable[Doubts]) -> Doubts:
        """Return the doubts about several sentences as those about one text."""
        every = list(parts)
        return cls(
            words=sum(part.words for part in every),
            guesses=sum(part.guesses for part in every),
            unsure=tuple(word for part in every for word in part.unsure),
            untranslated=tuple(word for part in every for word in part.untranslated),
        )

    @property
    def share(self) -> float:
        """Return the number of doubts per word of the translation; it can exceed 1."""
        doubts = self.guesses + len(self.unsure) + len(self.untranslated)
        return doubts / max(1, self.words)

    def to_dict(self, threshold: float) -> dict[str, Any]:
        """Return JSON values; ``threshold`` as for ``verdict``."""
        return {
            "probably_wrong": self.share >= threshold,
            "share": self.share,
            "words": self.words,
            "guesses": self.guesses,
            "unsure": [{"word": word.word, "times": word.times} for word in self.unsure],
            "untranslated": list(self.untranslated),
        }

    def reasons(self, *, complete: bool = True) -> str:
        """Return them in words, as in "3 of 9 words are guesses, “moose” was rarely seen in
        training"; empty if there are none.

        Args:
            complete: whether a word that the model's file does not list was never seen.
        """
        return ", ".join(self._reasons(complete))

    def _reasons(self, complete: bool) -> Iterator[str]:
        if self.guesses:
            are = "is a guess" if self.guesses == 1 else "are guesses"
            yield f"{self.guesses} of {self.words} words {are}"
        if self.untranslated:
            yield f"{_named(self.untranslated, 'is', 'are')} left untranslated"
        never = [word.word for word in self.unsure if not word.times]
        rarely = [word.word for word in self.unsure if word.times]
        if never:
            seen = "never seen in training" if complete else "too rare in training to be listed"
            yield f"{_named(never, 'was', 'were')} {seen}"
        if rarely:
            yield f"{_named(rarely, 'was', 'were')} rarely seen in training"


def verdict(doubts: Doubts, threshold: float = DOUBTFUL, *, complete: bool = True) -> str:
    """Return one sentence about a translation, as in "Probably wrong: 3 of 9 words are guesses.";
    empty if nothing speaks against it.

    Args:
        threshold: the share of doubts from which it is probably wrong.
        complete: as for ``Doubts.reasons``.
    """
    reasons = doubts.reasons(complete=complete)
    if not reasons:
        return ""
    if doubts.share >= threshold:
        return f"Probably wrong: {reasons}."
    return f"{reasons[0].upper()}{reasons[1:]}."


def threshold_of(provenance: Mapping[str, Any]) -> float:
    """Return the share of doubts from which a translation of this model is probably wrong: the one
    that was measured for it, if any was."""
    measured = provenance.get("scores", {}).get("doubts", {})
    return float(measured.get("threshold", DOUBTFUL))


def _named(words: Sequence[str], one: str, several: str) -> str:
    """The words with a verb, as in “old” is; of many, the first ones and how many more."""
    named = [f"“{word}”" for word in dict.fromkeys(words)]
    if len(named) == 1:
        return f"{named[0]} {one}"
    shown, more = named[:_MOST_NAMED], len(named) - _MOST_NAMED
    last = f"{more} more" if more > 0 else shown.pop()
    return f"{', '.join(shown)} and {last} {several}"
