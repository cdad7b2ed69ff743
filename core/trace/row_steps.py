"""How one query's row of weights comes about, step by step (paper section 3.2.1, eq. 1).

Legend: K keys, d_k and d_v head widths. In float64, so that the only rounding is the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.switches import Scaling
from core.trace.trace import Booleans, ComputedAttention, Head, Trace

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSteps:
    """The steps of softmax(q kᵀ / divisor) v for one query.

    Attributes:
        query: q, [d_k].
        keys: k, [K, d_k].
        values: v, [K, d_v].
        allowed: [K], True where the mask lets the query attend.
        divisor: √d_k as the paper has it, d_k where it is taken twice, or 1 where it is left out.
        sums: q·k, [K].
        scores: q·k / divisor, [K], before the mask.
        exponentials: exp(score − the largest allowed score), [K]; 0 where masked.
        weights: the exponentials over their sum, [K]; zeros if nothing is allowed.
        output: z = Σ_j weights[j] · v_j, [d_v], before the output projection W^O.
    """

    query: Doubles
    keys: Doubles
    values: Doubles
    allowed: Booleans
    divisor: float
    sums: Doubles
    scores: Doubles
    exponentials: Doubles
    weights: Doubles
    output: Doubles

    def unscaled(self) -> RowSteps:
        """The same row with ÷ √d_k left out."""
        return self.with_scaling(Scaling.OFF)

    def with_scaling(self, scaling: Scaling) -> RowSteps:
        """Return the row that another scaling makes of the same queries, keys and values."""
        divisor = scaling.divisor(len(self.query))
        return _steps(self.query, self.keys, self.values, self.allowed, self.sums, divisor)

    @property
    def products(self) -> Doubles:
        """The products q ∘ k, [K, d_k]; each row adds up to its key's sum."""
        return self.query * self.keys

    @property
    def entropy(self) -> float:
        """The entropy −Σ w log₂ w in bits, where 0 · log₂ 0 = 0."""
        some = self.weights[self.weights > 0]
        return max(0.0, -float((some * np.log2(some)).sum()))


def row_steps(trace: Trace, head: Head, query: int) -> RowSteps:
    """The steps of one query's row in one head.

    Raises:
        UserError: the trace holds only finished weights.
    """
    attention = trace.attention[head.kind]
    if not isinstance(attention, ComputedAttention):
        raise UserError(
            "This trace contains only finished weights, so there is no q and k to show; open a "
            "model and type a text to see how its weights are computed."
        )
    layer = attention.projections[head.layer]
    return attend_row(
        layer.query[head.head, query].astype(np.float64),
        layer.key[head.head].astype(np.float64),
        layer.value[head.head].astype(np.float64),
        trace.allowed(head.kind)[query],
        attention.scaling,
    )


def scaling_effects(trace: Trace, head: Head) -> Doubles:
    """Return by how many bits leaving out the division by √d_k sharpens each row of a head, [Q].

    In a trace without the division, it is what dividing would add.

    Raises:
        UserError: the trace holds only finished weights.
    """
    rows = (row_steps(trace, head, query) for query in range(len(trace.query_tokens(head.kind))))
    off = trace.switches.scaling is Scaling.OFF
    pairs = (
        (steps.with_scaling(Scaling.ON), steps) if off else (steps, steps.unscaled())
        for steps in rows
    )
    return np.array([divided.entropy - undivided.entropy for divided, undivided in pairs])


def attend_row(
    query: Doubles,
    keys: Doubles,
    values: Doubles,
    allowed: Booleans,
    scaling: Scaling = Scaling.ON,
) -> RowSteps:
    """Compute the steps of a row from query [d_k], keys [K, d_k], values [K, d_v] and allowed
    [K]."""
    return _steps(query, keys, values, allowed, keys @ query, scaling.divisor(len(query)))


def _steps(
    query: Doubles,
    keys: Doubles,
    values: Doubles,
    allowed: Booleans,
    sums: Doubles,
    divisor: float,
) -> RowSteps:
    scores = sums / divisor
    exponentials = np.zeros_like(scores)
    if allowed.any():
        exponentials[allowed] = np.exp(scores[allowed] - scores[allowed].max())
    weights = exponentials / max(exponentials.sum(), 1.0)  # the sum is at least 1, or 0
    return RowSteps(
        query=query,
        keys=keys,
        values=values,
        allowed=allowed,
        divisor=divisor,
        sums=sums,
        scores=scores,
        exponentials=exponentials,
        weights=weights,
        output=weights @ values,
    )
