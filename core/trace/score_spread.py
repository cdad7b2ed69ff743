"""Why scores are divided by √d_k: the spread of q · k for random vectors (paper, section 3.2.1).

Legend: N pairs in the sample, K keys of the one row, d_k their width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.trace.row_steps import Doubles, RowSteps, attend_row


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """A sample of q · k whose components are independent, with mean 0 and variance 1.

    Attributes:
        sums: q · k of independent pairs, [N]; their standard deviation is √d_k in expectation.
        scaled: one row of K keys, its scores divided by √d_k.
        unscaled: the same row without the division.
    """

    sums: Doubles
    scaled: RowSteps
    unscaled: RowSteps


def sample_spread(d_k: int, seed: int, *, pairs: int = 4000, keys: int = 8) -> ScoreSpread:
    """Draw queries and keys from the standard normal distribution; a seed repeats its sample.

    Raises:
        ValueError: d_k, pairs or keys is less than 1.
    """
    if min(d_k, pairs, keys) < 1:
        raise ValueError("d_k, pairs and keys are at least 1")
    rng = np.random.default_rng(seed)
    query = rng.standard_normal(d_k)
    row = rng.standard_normal((keys, d_k))
    sums = np.einsum("nd,nd->n", *rng.standard_normal((2, pairs, d_k)))
    scaled = attend_row(query, row, row, np.ones(keys, bool))
    return ScoreSpread(sums, scaled, scaled.unscaled())


def softmax_gradient(weights: Doubles) -> float:
    """Return the Frobenius norm of the softmax's Jacobian, diag(w) − w wᵀ, at weights w [K].

    It is 0 where one weight is 1: such a row can no longer learn from its scores.
    """
    return float(np.linalg.norm(np.diag(weights) - np.outer(weights, weights)))
