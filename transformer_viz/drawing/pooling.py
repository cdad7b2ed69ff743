"""Shrinking pictures of attention by the maximum: a thin diagonal must stay visible.

Shapes: … any leading axes, h × w cells.
"""

from functools import cached_property

import numpy as np


def pool_max(cells: np.ndarray, size: int) -> np.ndarray:
    """[..., h, w] to [..., min(h, size), min(w, size)]: the maximum of even, gapless blocks."""
    for axis in (-1, -2):
        count = cells.shape[axis]
        if count > size:
            starts = np.arange(size) * count // size
            cells = np.maximum.reduceat(cells, starts, axis=axis)
    return cells


class Pyramid:
    """One picture [h, w] at 1, 1/2, 1/4 … of its resolution, each level made when first asked."""

    def __init__(self, cells: np.ndarray) -> None:
        self._levels = [cells]

    @cached_property
    def depth(self) -> int:
        """The number of levels; the last has no side longer than one cell."""
        return (max(self._levels[0].shape) - 1).bit_length() + 1

    def level(self, cells_per_pixel: float) -> tuple[int, np.ndarray]:
        """The finest level with at most one cell per pixel: its number, and its cells."""
        number = 0
        while cells_per_pixel > 1.0 and number + 1 < self.depth:
            cells_per_pixel /= 2
            number += 1
        while len(self._levels) <= number:
            self._levels.append(_halved(self._levels[-1]))
        return number, self._levels[number]


def _halved(cells: np.ndarray) -> np.ndarray:
    """[h, w] to [⌈h/2⌉, ⌈w/2⌉] by the maximum."""
    for axis in (0, 1):
        cells = np.maximum.reduceat(cells, np.arange(0, cells.shape[axis], 2), axis=axis)
    return cells
