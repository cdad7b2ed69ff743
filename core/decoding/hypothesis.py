"""Finished hypotheses of one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.decoding.config import SearchConfig
from core.decoding.penalty import best_reachable, normalised


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A whole output.

    Attributes:
        ids: the tokens without begin and end.
        log_probability: natural logarithm, the end token's included.
        score: ``log_probability`` divided by the length penalty.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float

    @classmethod
    def finished(
        cls, ids: Sequence[int], log_probability: float, config: SearchConfig
    ) -> Hypothesis:
        score = normalised(log_probability, len(ids) + 1, config.alpha, config.penalty)
        return cls(tuple(ids), log_probability, score)


class NBest:
    """The best hypotheses of one sentence so far, best first."""

    def __init__(self, config: SearchConfig, longest: int) -> None:
        """Collect hypotheses; ``longest`` is the most tokens that an output of this sentence may
        have."""
        self.config = config
        self.longest = longest
        self._estimates = config.stopping == "estimate"
        self._size = config.beam if self._estimates else config.n_best
        self._kept: list[Hypothesis] = []

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """Return at most ``config.n_best`` hypotheses."""
        return self._kept[: self.config.n_best]

    def add(self, hypothesis: Hypothesis) -> None:
        self._kept.append(hypothesis)
        self._kept.sort(key=lambda one: one.score, reverse=True)
        del self._kept[self._size :]

    def is_settled(self, live_log_probability: float, length: int) -> bool:
        """Whether no live hypothesis can enter the list any more, or is thought to.

        ``live_log_probability`` is that of the best one of ``length`` tokens, -inf for none.
        """
        if live_log_probability == float("-inf"):
            return True
        if len(self._kept) < self._size:
            return False
        alpha, penalty = self.config.alpha, self.config.penalty
        if self._estimates:
            reachable = normalised(live_log_probability, length, alpha, penalty)
        else:
            reachable = best_reachable(live_log_probability, length, self.longest, alpha, penalty)
        return self._kept[-1].score >= reachable
