"""What the picture of one query's row shows, apart from how.

Shapes: K keys, d_k and d_v head widths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.switches import Scaling
from core.text.tokens import Token
from core.trace.row_steps import RowSteps
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.scores.score_layout import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePicture:
    """The steps of one query's row, as they are drawn.

    Attributes:
        scaling: that of the model.
        scaled: whether the scores are divided in the steps shown.
        entropies: of the row with and without the division, in bits.
        number: the query, from 0.
        query, predicted: its token, and what a decoder row predicts.
        keys: [K].
        order: [K], the key of each line.
        query_limit: what the ends of the colours of q and k stand for.
        product_limit: those of q ∘ k.
        value_limit: those of v, w · v and z.
        sum_limit: what a full bar of sums and scores stands for, the same with and without
            ÷ √d_k, so that the bars are seen to shrink.
    """

    steps: RowSteps
    scaling: Scaling
    scaled: bool
    entropies: tuple[float, float]
    number: int
    query: Token
    predicted: Token | None
    keys: Sequence[Token]
    order: np.ndarray
    query_limit: float
    product_limit: float
    value_limit: float
    sum_limit: float

    @property
    def root(self) -> str:
        """What the scores are divided by: ``√64``, or ``64`` where the model does it twice."""
        root = "" if self.scaling is Scaling.TWICE else "√"
        return f"{root}{len(self.steps.query)}"

    @property
    def heaviest(self) -> int:
        return int(self.steps.weights.argmax())

    def position_of(self, key: int) -> int:
        """The line of a key."""
        return int(np.flatnonzero(self.order == key)[0])

    def titles(self) -> Mapping[Column, tuple[str, str]]:
        """What is at the head of each column: the step, and its formula or its colours' ends."""
        masked = not self.steps.allowed.all()
        return {
            Column.KEY: ("key", "token"),
            Column.PRODUCTS: ("q ∘ k", f"±{self.product_limit:.2g}"),
            Column.SUM: ("sum", "q · k"),
            Column.SCORE: (f"÷ {self.root}", "score s" if self.scaled else "left out"),
            Column.EXPONENTIAL: ("mask, exp" if masked else "exp", "e^(s − max)"),
            Column.WEIGHT: ("softmax", "w = e / Σ e"),
            Column.VALUES: ("w · v", f"±{self.value_limit:.2g}"),
        }


@dataclass(frozen=True, slots=True)
class ScoreMarks:
    """The keys that are marked; `key`: the one in focus, `pinned`: those that stay, and the
    dimensions under the pointer, along d_k and d_v."""

    key: int
    pinned: frozenset[int] = frozenset()
    key_dimension: int | None = None
    value_dimension: int | None = None


def score_picture(
    trace: Trace,
    head: Head,
    number: int,
    *,
    steps: RowSteps,
    entropies: tuple[float, float],
    scaled: bool,
    by_weight: bool,
) -> ScorePicture:
    """The picture of a query's steps. By weight, the heaviest key comes first and the masked ones
    last, else every key is at its position."""
    kind = head.kind
    position = np.arange(len(steps.sums))
    reach = np.maximum(steps.keys.max(axis=0), -steps.keys.min(axis=0))  # [d_k]
    decoding = kind is not AttentionKind.ENCODER_SELF and number < len(trace.predicted_tokens)
    return ScorePicture(
        steps=steps,
        scaling=trace.switches.scaling,
        scaled=scaled,
        entropies=entropies,
        number=number,
        query=trace.query_tokens(kind)[number],
        predicted=trace.predicted_tokens[number] if decoding else None,
        keys=trace.key_tokens(kind),
        order=np.lexsort((position, -steps.scores, ~steps.allowed)) if by_weight else position,
        query_limit=float(max(reach.max(), np.abs(steps.query).max())),
        product_limit=float((np.abs(steps.query) * reach).max()),
        value_limit=float(max(steps.values.max(), -steps.values.min())),
        sum_limit=float(np.abs(steps.sums).max()),
    )
