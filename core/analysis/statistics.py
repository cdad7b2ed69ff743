"""What every head does over many sentences, in the numbers of `core.trace.statistics`.

A number over a corpus is the mean over its sentences of the sentence's own number, which in turn is
a mean over the queries; formulas in docs/formulas.md.

Legend: B sentences of a batch, L layers, H heads, Q queries, K keys, n longest distance + 1.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from core.analysis.passes import Pass
from core.heads import AttentionKind, Head

Numbers: TypeAlias = npt.NDArray[np.float64]
_Key: TypeAlias = tuple[AttentionKind, int, str]  # kind, layer, name of the statistic


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells that the maps of one kind have in a batch, the same in every head.

    Attributes:
        allowed: [B, Q, K], real queries on real keys that the mask admits.
        ordinary: [B, Q, K], those of them whose key is not a special token.
        queries, keys: [B], how many each sentence has.
        key_ids: [B, K].
    """

    kind: AttentionKind
    allowed: Tensor
    ordinary: Tensor
    queries: Tensor
    keys: Tensor
    key_ids: Tensor

    @classmethod
    def of(cls, batch: Pass, kind: AttentionKind, special: Tensor) -> Cells:
        """Classify the cells of a pass; ``special`` [V] says which ids are special tokens."""
        allowed = batch.allowed(kind)
        return cls(
            kind=kind,
            allowed=allowed,
            ordinary=allowed & ~special[batch.keys(kind)][:, None, :],
            queries=batch.query_lengths(kind),
            keys=batch.key_lengths(kind),
            key_ids=batch.keys(kind),
        )

    @property
    def real(self) -> Tensor:
        """The real queries, [B, Q]."""
        return self.allowed.any(dim=2)

    def diagonal(self) -> Tensor:
        """Return the key round(i · n / m) of n for each query i of m, [B, Q, K]."""
        rows = torch.arange(self.allowed.shape[1], device=self.allowed.device)
        keys = torch.arange(self.allowed.shape[2], device=self.allowed.device)
        straight = (rows * self.keys[:, None] / self.queries[:, None] + 0.5).floor()  # [B, Q]
        straight = straight.minimum(self.keys[:, None] - 1)
        return self.allowed & (keys == straight[:, :, None])


def sentence_statistics(weights: Tensor, cells: Cells) -> dict[str, Tensor]:
    """Return statistics of each sentence and head, [B, H] each; NaN where the sentence has no such
    row.

    weights [B, H, Q, K], 0 outside ``cells.allowed``.
    """
    count = cells.queries[:, None]  # [B, 1]
    entropy = torch.special.entr(weights).sum(dim=-1) / math.log(2)  # [B, H, Q], in bits
    limit = cells.allowed.sum(dim=2).clamp(min=1).log2()[:, None]  # [B, 1, Q]
    choosing = limit > 0
    span = (2**entropy).masked_fill(~cells.real[:, None], 0.0)
    ordinary = cells.ordinary[:, None]
    of_limit = (entropy / limit.where(choosing, 1.0)).masked_fill(~choosing, 0.0)
    special = (cells.allowed & ~cells.ordinary)[:, None]
    found = {
        "confidence": weights.masked_fill(~ordinary, 0.0).amax(dim=-1).sum(dim=-1) / count,
        "entropy": entropy.sum(dim=-1) / count,
        "entropy_normalised": of_limit.sum(dim=-1) / choosing.sum(dim=-1),
        "effective_span": span.sum(dim=-1) / count,
        "special_share": (weights * special).sum(dim=(-2, -1)) / count,
        "sink_score": (weights.sum(dim=-2) / count[..., None]).amax(dim=-1),
    }
    if cells.kind is AttentionKind.CROSS:
        diagonal = weights * cells.diagonal()[:, None]
        found["diagonal_score"] = diagonal.sum(dim=(-2, -1)) / count
    return found


def by_offset(weights: Tensor) -> Tensor:
    """Return Σ_i A[i, i + k] for k = 1 − Q … K − 1: [B, H, Q, K] → [B, H, Q + K − 1]."""
    queries, keys = weights.shape[-2:]
    width = queries + keys - 1
    # In rows one longer than the result each row begins one place further to the right.
    padded = F.pad(weights.flip(-2), (0, queries)).flatten(-2)
    skewed = padded[..., : queries * width].reshape(*weights.shape[:-1], width)
    return skewed.sum(dim=-2)


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """A head's means over the sentences; None where the kind of attention has no such number.

    Attributes:
        confidence, entropy, mean_distance, offset_shares, special_share: as in `HeadStatistics`.
        entropy_normalised: entropy over log₂ of the allowed keys, of the rows with two or more.
        sink_score: `sink_share` there.
        effective_span: 2^entropy of a row, the keys that as even a spread would have.
        median_distance: the least d with half of the weight at |i − j| ≤ d.
        distance_histogram: the share of the weight at |i − j| = 0, 1, 2, …
        diagonal_score: the weight on key round(i · n / m), of cross-attention.
    """

    confidence: float
    entropy: float
    entropy_normalised: float
    effective_span: float
    special_share: float
    sink_score: float
    mean_distance: float | None = None
    median_distance: int | None = None
    offset_shares: tuple[float, float, float] | None = None
    distance_histogram: tuple[float, ...] | None = None
    diagonal_score: float | None = None


class StatisticsSum:
    """Gathers the batches of a corpus."""

    def __init__(self) -> None:
        self._sums: dict[_Key, Numbers] = {}  # [H], of the sentences that have the number
        self._counts: dict[_Key, Numbers] = {}
        self._distances: dict[tuple[AttentionKind, int], Numbers] = {}  # [H, n]
        self._sentences: Counter[tuple[AttentionKind, int]] = Counter()

    def add(self, layer: int, weights: Tensor, cells: Cells) -> None:
        """Add the weights [B, H, Q, K] of one layer of one kind."""
        block = (cells.kind, layer)
        for name, values in sentence_statistics(weights, cells).items():
            self._add((*block, name), values)
        if cells.kind is AttentionKind.CROSS:
            return
        offsets = by_offset(weights)  # [B, H, 2n − 1]
        here = weights.shape[-1] - 1
        for offset in (-1, 0, 1):
            rows = (cells.queries - abs(offset))[:, None]
            fits = abs(offset) <= here
            share = offsets[..., here + offset] if fits else torch.zeros_like(offsets[..., here])
            self._add((*block, f"offset {offset}"), share / rows.clamp(min=1))
        distances = offsets[..., here:].clone()
        distances[..., 1:] += offsets[..., :here].flip(-1)
        total = _numbers(distances / cells.queries[:, None, None]).sum(axis=0)
        self._distances[block] = _summed(self._distances.get(block), total)
        self._sentences[block] += len(weights)

    def _add(self, key: _Key, values: Tensor) -> None:
        """[B, H], not a number for a sentence that does not count."""
        array = _numbers(values)
        self._sums[key] = _summed(self._sums.get(key), np.nansum(array, axis=0))
        known = np.isfinite(array).sum(axis=0).astype(np.float64)
        self._counts[key] = _summed(self._counts.get(key), known)

    def of(self, head: Head, place: int) -> CorpusStatistics:
        """Return the statistics of a head; ``place`` is its place among those that its layer
        has."""
        block = (head.kind, head.layer)

        def mean(name: str) -> float:
            key = (*block, name)
            return float(self._sums[key][place] / max(1.0, self._counts[key][place]))

        common = CorpusStatistics(
            confidence=mean("confidence"),
            entropy=mean("entropy"),
            entropy_normalised=mean("entropy_normalised"),
            effective_span=mean("effective_span"),
            special_share=mean("special_share"),
            sink_score=mean("sink_score"),
        )
        if head.kind is AttentionKind.CROSS:
            return replace(common, diagonal_score=mean("diagonal_score"))
        histogram = self._distances[block][place] / self._sentences[block]
        return replace(
            common,
            mean_distance=float(histogram @ np.arange(histogram.size)),
            median_distance=int(np.searchsorted(histogram.cumsum(), 0.5 * histogram.sum())),
            offset_shares=(mean("offset -1"), mean("offset 0"), mean("offset 1")),
            distance_histogram=tuple(histogram.tolist()),
        )


def _numbers(values: Tensor) -> Numbers:
    return values.double().cpu().numpy()


def _summed(before: Numbers | None, more: Numbers) -> Numbers:
    """The sum along the common beginning of the last axis, and what only one of them has."""
    if before is None:
        return more
    width = max(before.shape[-1], more.shape[-1])
    wide = [
        np.pad(each, [(0, 0)] * (each.ndim - 1) + [(0, width - each.shape[-1])])
        for each in (before, more)
    ]
    result: Numbers = wide[0] + wide[1]
    return result
