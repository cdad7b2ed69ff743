"""Cubic Bézier curves as polylines, and how far a point is from them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sampled(controls: Floats, count: int) -> Floats:
    """Return points along cubics [N, 4, 2], both ends among them: [N, count, 2]."""
    t = np.linspace(0, 1, count)[:, None]
    basis = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    points: Floats = np.einsum("sc,ncx->nsx", basis, controls)
    return points


def distances(lines: Floats, point: NDArray[np.float64]) -> Floats:
    """Return how far a point is from each polyline [N, S, 2]: [N]."""
    start, step = lines[:, :-1], np.diff(lines, axis=1)
    length = np.maximum((step**2).sum(axis=2), 1e-12)
    part = (((point - start) * step).sum(axis=2) / length).clip(0, 1)
    gaps: Floats = np.linalg.norm(start + part[..., None] * step - point, axis=2)
    return gaps.min(axis=1)
