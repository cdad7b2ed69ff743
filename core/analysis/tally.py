"""Claims counted pass by pass, for every head and sentence.

Legend: B sentences of a batch, N sentences, H heads of a layer, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from core.analysis.claims import Claim, Rows
from core.analysis.passes import Pass
from core.analysis.verdict import holds, lower_bound
from core.heads import AttentionKind
from core.statistics.batches import Cells

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One claim about one head.

    Attributes:
        scores: [N], of each sentence, not a number where the claim counts no row of it.
        rows: [N], how many it counts.
        hits: the sum of the scores over all rows.
        weight: the mean over all rows of the weight on the wanted cells, where the score is a
            share; None where the score itself is a weight.
    """

    claim: Claim
    scores: Numbers
    rows: npt.NDArray[np.int64]
    baseline: float
    weight: float | None

    @property
    def hits(self) -> float:
        return float(np.nansum(self.scores * self.rows))

    @property
    def score(self) -> float:
        return _mean(self.claim, self.scores, self.rows)

    @property
    def threshold(self) -> float:
        return self.claim.threshold(self.baseline)

    @property
    def margin(self) -> float:
        return self.score - self.threshold

    @property
    def cases(self) -> int:
        """How many rows or, of a mean over sentences, how many sentences the score is over."""
        return int(self.rows.sum() if self.claim.by_rows else (self.rows > 0).sum())

    @property
    def lower(self) -> float:
        """The lower end of the score's 95% interval."""
        return lower_bound(self.score, self.cases)

    @property
    def passed(self) -> bool:
        """Whether the head is called by the role."""
        return holds(self.score, self.cases, self.threshold, self.weight)


class ClaimTally:
    """What every head of the model scores in every claim that applies to its kind."""

    def __init__(self, claims: Sequence[Claim], sentences: int) -> None:
        self.claims = claims
        self._sentences = sentences
        # [N] of a claim in a kind: the same in all heads.
        self._rows: dict[tuple[int, AttentionKind], npt.NDArray[np.int64]] = {}
        self._even: dict[tuple[int, AttentionKind], Numbers] = {}
        # [N, H] of a claim in a layer.
        self._scores: dict[tuple[int, AttentionKind, int], npt.NDArray[np.float32]] = {}
        self._weights: dict[tuple[int, AttentionKind, int], npt.NDArray[np.float32]] = {}

    def rows(self, passed: Pass, cells: Cells) -> dict[int, Rows]:
        """Begin with one kind of a pass: the rows of each claim, by its number."""
        found = {}
        for number, claim in enumerate(self.claims):
            if not claim.applies(cells.kind):
                continue
            rows = found[number] = claim.rows(cells)
            key = (number, cells.kind)
            if key not in self._rows:
                self._rows[key] = np.zeros(self._sentences, np.int64)
                self._even[key] = np.full(self._sentences, np.nan)
            self._rows[key][passed.indices] = rows.counted.sum(dim=-1).cpu().numpy()
            even = _row_means(claim.even(rows)[:, None], rows)[:, 0]
            self._even[key][passed.indices] = even.double().cpu().numpy()
        return found

    def add(
        self, passed: Pass, kind: AttentionKind, layer: int, weights: Tensor, rows: dict[int, Rows]
    ) -> None:
        """Add the weights [B, H, Q, K] of one layer."""
        for number, of_claim in rows.items():
            key = (number, kind, layer)
            if key not in self._scores:
                shape = (self._sentences, weights.shape[1])
                self._scores[key] = np.full(shape, np.nan, np.float32)
            claim = self.claims[number]
            scores = _row_means(claim.score(weights, of_claim), of_claim)
            self._scores[key][passed.indices] = scores.cpu().numpy()
            if claim.is_share:
                on_wanted = (weights * of_claim.wanted[:, None]).sum(dim=-1)
                of_layer = self._weights.setdefault(key, np.full_like(self._scores[key], np.nan))
                of_layer[passed.indices] = _row_means(on_wanted, of_claim).cpu().numpy()

    def outcomes(self, kind: AttentionKind, layer: int, place: int) -> list[Outcome]:
        """Return the outcomes of claims that count at least one row; ``place`` is that of the head
        within its layer."""
        found = []
        for number, claim in enumerate(self.claims):
            rows = self._rows.get((number, kind))
            if rows is None or not rows.any():
                continue
            scores = self._scores[number, kind, layer][:, place].astype(np.float64)
            even = self._even[number, kind]
            weight = None
            if claim.is_share:
                of_head = self._weights[number, kind, layer][:, place].astype(np.float64)
                weight = _mean(claim, of_head, rows)
            found.append(Outcome(claim, scores, rows, _mean(claim, even, rows), weight))
        return found


def _row_means(values: Tensor, rows: Rows) -> Tensor:
    """The mean over the counted rows, not a number without any: [B, H, Q] → [B, H]."""
    counted = rows.counted[:, None]
    return values.where(counted, 0.0).sum(dim=-1) / counted.sum(dim=-1)


def _mean(claim: Claim, values: Numbers, rows: npt.NDArray[np.int64]) -> float:
    known = rows > 0
    return float(np.average(values[known], weights=rows[known] if claim.by_rows else None))
