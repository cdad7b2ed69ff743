"""The layer lens: what the decoder would say after each of its layers, as a value.

Legend: L layers, P positions, K words. NumPy only; ``core.analysis.readout`` makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.trace.trace import Floats

Ids = NDArray[np.int64]

INPUT = 0
"""The row of the lens below the first layer; layer 1 follows it."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerLens:
    """The residual stream below the first layer (row 0) and after each layer (rows 1 … L), put
    through the final norm, where the model has one, and the output embedding (nostalgebraist 2020).

    The last row is the model's real output. With a shared embedding, row 0 tends to name the token
    that was read.

    Attributes:
        ids: the K most probable words, the first first, [L + 1, P, K].
        probabilities: theirs, [L + 1, P, K].
        predicted: the probability of the word that the trace has next, [L + 1, P].
        ranks: the rank of that word among all, 1 for the first, [L + 1, P].
    """

    ids: Ids
    probabilities: Floats
    predicted: Floats
    ranks: Ids

    def leads(self) -> Ids:
        """Return the row from which on the model's final word is the first one without
        interruption, [P]: 0 for the input, 1 … L for layers."""
        is_final = self.ids[:, :, 0] == self.ids[-1, :, 0]  # [L + 1, P]
        unbroken = np.logical_and.accumulate(is_final[::-1])[::-1]
        first: Ids = unbroken.argmax(axis=0)
        return first
