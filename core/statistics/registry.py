"""Every statistic of a head, once: its id, names, formula, unit, and the functions that compute it.

A new statistic is one entry of ``STATISTICS``. With ``rows`` or ``keys`` it appears in the
inspector, the orders of the heads map, the probes of a training run and their curves; with
``batch_rows`` or ``batch_keys``, in what `transformer-viz heads` and the Heads panel measure.
Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.heads import AttentionKind

if TYPE_CHECKING:
    from torch import Tensor

    from core.statistics.batches import BatchRows
    from core.statistics.rows import Rows, Values

_EVERY = frozenset(AttentionKind)
_SELF = frozenset({AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF})
_CROSS = frozenset({AttentionKind.CROSS})


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic is one number of a head, on a text or over a corpus.

    A statistic of a map is either the mean over its queries of a value that each query has, or a
    number computed from the mean weight that each key receives.

    Attributes:
        id: its name in every file, from the log of a run to the CSV of the heads.
        name: its name in the window, within a sentence.
        short: its name above a column of numbers.
        formula: its definition as in docs/formulas.md, in Markdown.
        explanation: its definition in plain sentences, for tooltips.
        unit: its unit; empty for a share, which is between 0 and 1.
        digits: how many decimals are shown.
        kinds: the kinds of attention that have it.
        lowest_first: whether the heads with the lowest values are of most interest.
        rows: the value of each query, [R]; not a number for a query that has none.
        keys: the value computed from the mean weight received by each key, [K].
        batch_rows: the same as ``rows`` for a batch of sentences and all heads, [B, H, Q].
        batch_keys: the same as ``keys`` for a batch, [B, H, K] → [B, H].
    """

    id: str
    name: str
    short: str
    formula: str
    explanation: str
    unit: str = ""
    digits: int = 2
    kinds: frozenset[AttentionKind] = _EVERY
    lowest_first: bool = False
    rows: Callable[[Rows], Values] | None = None
    keys: Callable[[Values], float] | None = None
    batch_rows: Callable[[BatchRows], Tensor] | None = None
    batch_keys: Callable[[Tensor], Tensor] | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is between 0 and 1, so that a threshold and an absolute scale make sense."""
        return not self.unit


_OFFSET = "the mean over *i* of A[i, {}], over the rows that have such a key"
_AT_OFFSET = (
    "Mean weight on the {}, over the queries that have one (Clark et al. 2019). Only for "
    "self-attention: source and target positions cannot be compared."
)
_ALIGNMENT_ERROR = (
    "Alignment error rate (Och & Ney 2003) when each decoder row links the word that it {} to the "
    "source word with its largest weight; 0 is best."
)

STATISTICS = (
    Statistic(
        "entropy",
        "entropy",
        "entropy",
        "(1/n) Σ_i −Σ_j A[i, j] log₂ A[i, j], where 0 · log₂ 0 = 0",
        "Mean over the queries of −Σⱼ A log₂ A, where A is the weight of query i on key j, out of "
        "at most log₂ of the number of keys. Low: the head looks at few tokens.",
        unit="bits",
        lowest_first=True,
        rows=lambda rows: rows.entropy,
        batch_rows=lambda rows: rows.entropy,
    ),
    Statistic(
        "confidence",
        "confidence",
        "conf.",
        "(1/n) Σ_i max over *j* not special of A[i, j]",
        "Mean over the queries of the largest weight on a token that is not special "
        "(Voita et al. 2019).",
        rows=lambda rows: rows.largest_ordinary,
        batch_rows=lambda rows: rows.ordinary.amax(dim=-1),
    ),
    Statistic(
        "mean_distance",
        "mean distance",
        "dist.",
        "(1/n) Σ_i Σ_j A[i, j] · \\|i − j\\|",
        "Mean over the queries of Σⱼ A·|i − j|, in tokens (Vig & Belinkov 2019). Only for "
        "self-attention: source and target positions cannot be compared.",
        unit="tokens",
        digits=1,
        kinds=_SELF,
        rows=lambda rows: rows.distance,
        batch_rows=lambda rows: rows.distance,
    ),
    Statistic(
        "previous",
        "previous token",
        "on −1",
        _OFFSET.format("i − 1"),
        _AT_OFFSET.format("previous position"),
        kinds=_SELF,
        rows=lambda rows: rows.at_offset(-1),
        batch_rows=lambda rows: rows.at_offset(-1),
    ),
    Statistic(
        "same",
        "same token",
        "on 0",
        _OFFSET.format("i"),
        _AT_OFFSET.format("query’s own position"),
        kinds=_SELF,
        rows=lambda rows: rows.at_offset(0),
        batch_rows=lambda rows: rows.at_offset(0),
    ),
    Statistic(
        "next",
        "next token",
        "on +1",
        _OFFSET.format("i + 1"),
        _AT_OFFSET.format("next position"),
        kinds=_SELF,
        rows=lambda rows: rows.at_offset(1),
        batch_rows=lambda rows: rows.at_offset(1),
    ),
    Statistic(
        "special",
        "special tokens",
        "specials",
        "(1/n) Σ_i Σ_j special A[i, j]",
        "Mean over the queries of the weight on tokens such as </s> (Clark et al. 2019).",
        rows=lambda rows: rows.weights[:, rows.special].sum(axis=1),
        batch_rows=lambda rows: (rows.weights - rows.ordinary).sum(dim=-1),
    ),
    Statistic(
        "sink",
        "sink",
        "sink",
        "max over *j* of (1/n) Σ_i A[i, j]",
        "The largest share of all the weight of a map that one key receives (after Xiao et al. "
        "2023).",
        keys=lambda received: float(received.max()),
        batch_keys=lambda received: received.amax(dim=-1),
    ),
    Statistic(
        "entropy_normalised",
        "normalised entropy",
        "entr. /max",
        "mean of (−Σ_j A[i, j] log₂ A[i, j]) / log₂ a_i over the rows with a_i > 1, where a_i keys "
        "are allowed",
        "Entropy divided by its maximum, the logarithm of the number of allowed keys.",
        batch_rows=lambda rows: rows.entropy_of_limit,
    ),
    Statistic(
        "effective_span",
        "effective span",
        "span",
        "(1/n) Σ_i 2^(−Σ_j A[i, j] log₂ A[i, j]): the number of keys that, uniformly attended to, "
        "have the row's entropy",
        "2 to the power of the entropy of a row: uniform attention over this many tokens would "
        "have the same entropy.",
        unit="tokens",
        digits=1,
        batch_rows=lambda rows: 2**rows.entropy,
    ),
    Statistic(
        "median_distance",
        "median distance",
        "median",
        "the least d with h(0) + … + h(d) ≥ ½, h being the mean over the sentences of "
        "`distance_histogram`",
        "Half of all weight lies within this many tokens.",
        unit="tokens",
        digits=0,
        kinds=_SELF,
    ),
    Statistic(
        "diagonal",
        "diagonal",
        "diagonal",
        "(1/n) Σ_i A[i, j_i] with j_i = min(m − 1, ⌊i · m/n + ½⌋) of m source tokens; "
        "cross-attention only, whose row *i* predicts token *i*",
        "Mean weight at j = round(i·n/m): how far the translation follows the order of the source.",
        kinds=_CROSS,
        batch_rows=lambda rows: rows.on_keys(rows.cells.straight),
    ),
    Statistic(
        "alignment_error_fed",
        "alignment error, word read",
        "AER read",
        "the [alignment error rate](#alignment-error-rate) by the word that each row is fed",
        _ALIGNMENT_ERROR.format("reads"),
        kinds=_CROSS,
        lowest_first=True,
    ),
    Statistic(
        "alignment_error_predicted",
        "alignment error, word predicted",
        "AER pred.",
        "the [alignment error rate](#alignment-error-rate) by the word that each row predicts",
        _ALIGNMENT_ERROR.format("predicts"),
        kinds=_CROSS,
        lowest_first=True,
    ),
    Statistic(
        "importance",
        "importance",
        "import.",
        "see [Heads switched off](#heads-switched-off)",
        "Mean over the sentences of |∂loss/∂gate| (Michel et al. 2019, section 4.1): how strongly "
        "the loss depends on the head, in nats per token.",
        unit="nats per token",
        digits=4,
    ),
    Statistic(
        "effect",
        "effect",
        "effect",
        "see [Heads switched off](#heads-switched-off)",
        "Increase in loss when this head alone is switched off, in nats per token, measured on the "
        "first 200 sentences; below 0 the model is better without it.",
        unit="nats per token",
        digits=4,
    ),
    Statistic(
        "antecedent",
        "antecedent of “it” (gold)",
        "“it”",
        "share of 40 minimal pairs in whose two sentences the head is on the antecedent",
        "Share of minimal pairs in which the head’s largest weight is on the antecedent of “it”, "
        "in both sentences.",
        kinds=frozenset({AttentionKind.ENCODER_SELF, AttentionKind.CROSS}),
    ),
    Statistic(
        "pronoun",
        "pronoun right (gold)",
        "pronoun",
        "share of the pairs in whose two sentences the model's forced pronoun is right",
        "Share of minimal pairs in which the model chooses the right German pronoun for “it”, in "
        "both sentences.",
    ),
)
"""All of them, in the order in which they are listed."""

_BY_ID = {one.id: one for one in STATISTICS}

OF_MAPS = tuple(one for one in STATISTICS if one.rows or one.keys)
"""What is computed on one text."""

OF_CORPORA = tuple(one for one in STATISTICS if one.batch_rows or one.batch_keys)
"""What is computed sentence by sentence over a corpus."""

ANTECEDENT, PRONOUN = _BY_ID["antecedent"], _BY_ID["pronoun"]
IMPORTANCE, EFFECT = _BY_ID["importance"], _BY_ID["effect"]

PROBED = (*OF_MAPS, ANTECEDENT)
"""What a run records of each head; of the model, it records ``PRONOUN``."""

_OLD_IDS = {
    # orders of the heads map, in sessions and settings
    "distance": "mean_distance",
    "specials": "special",
    # reports of `transformer-viz heads --json`, whose offset shares were a mapping
    "special_share": "special",
    "sink_score": "sink",
    "diagonal_score": "diagonal",
    "offset_shares -1": "previous",
    "offset_shares 0": "same",
    "offset_shares 1": "next",
}


def current_id(id: str) -> str:
    """Return today's id of a statistic that an older version may have named otherwise."""
    return _OLD_IDS.get(id, id)


def statistic(id: str) -> Statistic | None:
    """Return the statistic with an id of this or an older version, or None if there is none."""
    return _BY_ID.get(current_id(id))
