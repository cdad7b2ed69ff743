"""How sure a share is that was counted in a sample."""

from __future__ import annotations

from math import sqrt

Z = 1.959964
"""Standard deviations on either side of the mean that hold 95% of a normal distribution."""


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Return both ends of the 95% interval of a share of ``count`` independent cases (Wilson 1927).

    Unlike the normal approximation it is right for shares near 0 and 1, and stays within them.
    """
    middle = share + Z**2 / (2 * count)
    half = Z * sqrt(share * (1.0 - share) / count + Z**2 / (4 * count**2))
    whole = 1.0 + Z**2 / count
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)
