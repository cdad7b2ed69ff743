"""Translations of one sentence beside each other: values, no Qt."""

import math
from dataclasses import dataclass
from functools import cached_property

from core.decoding.penalty import normalised
from core.text.tokens import Token, TokenKind
from core.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that may come next, and the natural logarithm of its probability."""

    token: Token
    log_probability: float


@dataclass(frozen=True)
class Hypothesis:
    """A translation, or the beginning of one, with the attention that produced it.

    Attributes:
        number: what it is called; never given again for the same sentence.
        origin: where it comes from, in words.
        trace: the recorded pass of this very hypothesis.
        given: so many of its tokens were given, the rest is decoded from there.
        from_tree: it was opened from the beam tree, and makes room for the next one.
    """

    number: int
    origin: str
    trace: Trace
    given: int = 0
    from_tree: bool = False

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The ids, with the end token if it has ended."""
        return tuple(token.id for token in self.trace.predicted_tokens)

    @cached_property
    def has_ids(self) -> bool:
        """Whether a model can be asked about it: a trace from a file need not name ids."""
        return self.trace.has_ids

    @property
    def is_finished(self) -> bool:
        tokens = self.trace.predicted_tokens
        return bool(tokens) and tokens[-1].kind is TokenKind.SPECIAL

    @cached_property
    def log_probability(self) -> float | None:
        """The sum over its tokens; None where the trace does not say."""
        values = self.trace.log_probabilities
        return None if values is None else float(values.sum(dtype="float64"))

    @property
    def perplexity(self) -> float | None:
        """The exponential of the mean negative log-probability per token."""
        total, count = self.log_probability, len(self.ids)
        return None if total is None or not count else math.exp(-total / count)

    def score(self, alpha: float, penalty: str = "gnmt") -> float | None:
        """The log-probability divided by the length penalty of this form, of a finished one."""
        total = self.log_probability
        if total is None or not self.is_finished:
            return None
        return normalised(total, len(self.ids), alpha, penalty)
