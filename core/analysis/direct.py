"""What the parts of the decoder's last state are, and where each came from, as a value.

Legend: N parts, D d_model. NumPy only; ``core.analysis.readout`` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.heads import Head
from core.trace.states import Sublayer


class Source(StrEnum):
    """What adds a part to the residual stream."""

    EMBEDDING = "embedding"
    POSITION = "position"
    HEAD = "head"
    FEED_FORWARD = "feed_forward"
    BIAS = "bias"  # of a sub-layer's last matrix
    NORM = "norm"  # its bias β


class Part(NamedTuple):
    """One part; ``sublayer`` and ``layer`` are None for embedding, position and the final norm."""

    source: Source
    layer: int | None = None
    sublayer: Sublayer | None = None
    head: Head | None = None

    @property
    def code(self) -> str:
        """Its name in files, layers and heads counted from 0: ``decoder_self.0.3``,
        ``feed_forward.0``, ``cross_attention.0.bias``, ``norm``."""
        if self.head is not None:
            return self.head.code
        if self.sublayer is None:
            return self.source.value
        place = f"{self.sublayer.value}.{self.layer}"
        return place if self.source is Source.FEED_FORWARD else f"{place}.{self.source.value}"


@dataclass(frozen=True, slots=True, eq=False)
class DirectParts:
    """The decoder's output at one position as a sum.

    Every norm on the way divides by the standard deviation that it really measured, which makes it
    linear; its bias β is a part of its own. Only the residual path is followed: what a part changes
    in later heads and networks belongs to those.

    Attributes:
        vectors: the parts as they arrive at the output, after all norms, [N, D]; their sum is the
            decoder's output.
        error: the largest difference between that sum and the real output, over max(1, the largest
            number of the output).
    """

    parts: tuple[Part, ...]
    vectors: NDArray[np.float64]
    error: float

    def index(self, head: Head) -> int:
        """Return the index of a head's part.

        Raises:
            ValueError: the decoder has no such head.
        """
        return [part.head for part in self.parts].index(head)

    def of_sublayer(self, layer: int, sublayer: Sublayer) -> Sequence[int]:
        """Return the indices of what a sub-layer adds: its heads or its network, and its bias."""
        return [
            index
            for index, part in enumerate(self.parts)
            if (part.layer, part.sublayer) == (layer, sublayer) and part.source is not Source.NORM
        ]


class Pushed(NamedTuple):
    """A target word, and by how much a part changes its logit against the mean over all words."""

    id: int
    change: float


@dataclass(frozen=True, slots=True)
class PushedWords:
    """The words that a part pushes up and down the most, the strongest first."""

    up: tuple[Pushed, ...]
    down: tuple[Pushed, ...]
