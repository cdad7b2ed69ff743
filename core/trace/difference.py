"""Two maps on the common axes of what they show, and their difference there.

Legend: R rows and C columns of the common axes; r and c those of one map.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.text.tokens import Token, TokenKind
from core.trace.alignment import GAP, Alignment, Indices, align
from core.trace.head_map import Entries, HeadMap
from core.trace.trace import Booleans, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """What one map has more or less than another on common axes.

    Attributes:
        values: [R, C], the first map's weight minus the second's; 0 where not `compared`.
        compared: [R, C], where both maps have a cell and neither masks it.
        row_distances: [R], the total variation distance between the rows of the two maps,
            ½ Σ |a − b| over all that either attends to, 0 to 1; NaN where a row is in one only.
    """

    values: Floats
    compared: Booleans
    row_distances: Floats

    @property
    def mean_distance(self) -> float:
        """The mean over the rows that both maps have; NaN if there are none."""
        shared = self.row_distances[~np.isnan(self.row_distances)]
        return float(shared.mean()) if len(shared) else float("nan")


def align_entries(first: Entries, second: Entries) -> Alignment:
    """Align two axes so that entries of the same text stand opposite each other."""
    return align([_key(token) for token in first.tokens], [_key(token) for token in second.tokens])


def on_axes(
    values: NDArray[Any], rows: Indices, columns: Indices, missing: float | bool
) -> NDArray[Any]:
    """Place values of a map on common axes, [r, c] to [R, C]; `missing` where the map has no row or
    no column. `rows` and `columns` are one side of an `Alignment`."""
    placed = np.full((len(rows), len(columns)), missing, dtype=values.dtype)
    placed[np.ix_(rows != GAP, columns != GAP)] = values
    return placed


def difference(first: HeadMap, second: HeadMap, rows: Alignment, columns: Alignment) -> Difference:
    """Subtract two maps cell by cell on the common axes.

    For the distance of two rows an entry that one side lacks has weight 0 there, and the weight
    hidden in each row counts as one more entry, so that every row is a whole distribution.
    """
    a = on_axes(first.weights, rows.first, columns.first, 0.0)
    b = on_axes(second.weights, rows.second, columns.second, 0.0)
    values = a - b
    hidden = np.abs(_on_axis(first.hidden, rows.first) - _on_axis(second.hidden, rows.second))
    distances = (np.abs(values).sum(axis=1) + hidden) / 2
    compared = on_axes(first.allowed, rows.first, columns.first, False) & on_axes(
        second.allowed, rows.second, columns.second, False
    )
    return Difference(
        values=np.where(compared, values, np.float32(0)),
        compared=compared,
        row_distances=np.where(rows.shared, distances, np.float32(np.nan)),
    )


def _on_axis(values: Floats, places: Indices) -> Floats:
    """[r] to [R], 0 in the gaps."""
    placed = np.zeros(len(places), dtype=np.float32)
    placed[places != GAP] = values
    return placed


def _key(token: Token) -> Hashable:
    text = token.surface if token.kind is TokenKind.UNKNOWN else token.piece
    return token.kind is TokenKind.SPECIAL, text
