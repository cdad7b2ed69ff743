"""What the model reads in recorded states: words by layer, and what heads add to the logits.

Legend: N parts, P positions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.direct import DirectParts
from core.analysis.lens import LayerLens
from core.heads import Head
from core.text.tokens import Token
from core.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """The layer lens of some decoder rows.

    Attributes:
        trace: the one that the rows belong to.
        positions: the rows, P of them, counted from 0.
        tokens: the token of each id in the lens.
    """

    lens: LayerLens
    trace: Trace
    positions: tuple[int, ...]
    tokens: Mapping[int, Token]

    def best(self, layer: int, row: int) -> tuple[Token, float]:
        """Return the most probable word after a layer, 0 being the input, and its probability;
        `row` counts in the positions."""
        return (
            self.tokens[int(self.lens.ids[layer, row, 0])],
            float(self.lens.probabilities[layer, row, 0]),
        )


class PushedWord(NamedTuple):
    """A word, and the change of its logit against the mean over all words."""

    token: Token
    change: float


@dataclass(frozen=True, slots=True, eq=False)
class Pushes:
    """What heads add directly to the logits at one decoder row, and what all parts add.

    Attributes:
        position: the decoder row, counted from 0.
        fed: the token that it reads.
        heads: those whose outputs are added up in `up` and `down`.
        up: the words that they push up most, the strongest first.
        down: the words that they push down most.
        word: the word whose logit is split.
        contributions: to its logit, of each part and of the output's bias last, [N + 1].
        means: the mean contribution to the logits of all words, likewise [N + 1].
        logit: of the word, from the model's own output.
    """

    position: int
    fed: Token
    heads: tuple[Head, ...]
    up: tuple[PushedWord, ...]
    down: tuple[PushedWord, ...]
    word: Token
    parts: DirectParts
    contributions: NDArray[np.float64]
    means: NDArray[np.float64]
    logit: float

    @property
    def above_mean(self) -> NDArray[np.float64]:
        """Return each part's contribution minus its mean over the vocabulary, [N + 1]."""
        difference: NDArray[np.float64] = self.contributions - self.means
        return difference
