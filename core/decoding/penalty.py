"""Comparing hypotheses of different length.

A hypothesis is worth log p / lp(length), its length counted with the end token. Only finished ones
have such a score; of a live one there is the best that it can still reach.
"""

from __future__ import annotations

PENALTIES = ("gnmt", "length", "none")


def length_penalty(length: int, alpha: float, penalty: str = "gnmt") -> float:
    """What the log-probability of ``length`` tokens is divided by.

    Args:
        penalty: "gnmt" is ((5 + length) / 6)^alpha (Wu et al. 2016, equation 14; the paper's,
            section 6.1); "length" is length^alpha (fairseq, Marian, transformers); "none" is 1,
            whatever alpha is.
    """
    if penalty == "none":
        return 1.0
    base = (5 + length) / 6 if penalty == "gnmt" else float(length)
    return float(base**alpha)


def normalised(log_probability: float, length: int, alpha: float, penalty: str) -> float:
    """The score of a finished hypothesis."""
    return log_probability / length_penalty(length, alpha, penalty)


def best_reachable(
    log_probability: float, length: int, longest: int, alpha: float, penalty: str
) -> float:
    """Return a score that no continuation of a live hypothesis can exceed.

    At best all its further tokens have probability 1. Which length is then best depends on the
    sign of alpha, and since the penalty is monotonic it is the shortest or the longest.

    Args:
        log_probability, length: of the tokens so far.
        longest: the most tokens it may have in the end, more than ``length``.
    """
    return max(
        normalised(log_probability, length + 1, alpha, penalty),
        normalised(log_probability, longest, alpha, penalty),
    )
