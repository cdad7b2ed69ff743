"""Which keys carry most of what a query attends to."""

import numpy as np

from core.trace.trace import Booleans, Floats

_TOLERANCE = 1e-6  # of a row's weight: what float32 sums may miss a share by


def heaviest(weights: Floats, share: float) -> Booleans:
    """Return for each row of [..., K] the smallest set of its heaviest keys whose weights add up to
    `share` (0 … 1) of the row's sum. Of equal weights the one of the lower index goes first; a
    weight of 0 is never in it."""
    order = np.argsort(-weights, axis=-1, kind="stable")
    descending = np.take_along_axis(weights, order, axis=-1).astype(np.float64)
    reached = np.cumsum(descending, axis=-1)
    needed = descending > 0
    enough = share * (1 - _TOLERANCE) * reached[..., -1:]
    needed[..., 1:] &= reached[..., :-1] < enough
    needed &= share > 0
    chosen = np.empty_like(needed)
    np.put_along_axis(chosen, order, needed, axis=-1)
    return chosen
