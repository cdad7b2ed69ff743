"""What every head does over many sentences, in the numbers of `core.trace.statistics`.

A number over a corpus is the mean over its sentences of the sentence's own number, which in turn is
a mean over the queries; formulas in docs/formulas.md.

Legend: B sentences of a batch, L layers, H heads, Q queries, K keys, n longest distance + 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from core.analysis.passes import Pass
from core.heads import AttentionKind, Head


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
        """``special`` [V]: which ids of the vocabulary are special tokens."""
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
        """For query i of m the key round(i · n / m) of n, [B, Q, K]."""
        rows = torch.arange(self.allowed.shape[1], device=self.allowed.device)
        keys = torch.arange(self.allowed.shape[2], device=self.allowed.device)
        straight = (rows * self.keys[:, None] / self.queries[:, None] + 0.5).floor()  # [B, Q]
        straight = straight.minimum(self.keys[:, None] - 1)
        return self.allowed & (keys == straight[:, :, None])


def sentence_statistics(weights: Tensor, cells: Cells) -> dict[str, Tensor]:
    """Of each sentence and head, [B, H] each; not a number where the sentence has no such row.

    weights [B, H, Q, K], 0 outside ``cells.allowed``.
    """
    count = cells.queries[:, None]  # [B, 1]
    entropy = torch.special.entr(weights).sum(dim=-1) / math.log(2)  # [B, H, Q], in bits
    limit = cells.allowed.sum(dim=2).clamp(min=1).log2()[:, None]  # [B, 1, Q]
    choosing = limit > 0
    span = (2**entropy).masked_fill(~cells.real[:, None], 0.0)
    ordinary = cells.ordinary[:, None]
    found = {
        "confidence": weights.masked_fill(~ordinary, 0.0).amax(dim=-1).sum(dim=-1) / count,
        "entropy": entropy.sum(dim=-1) / count,
        "entropy_normalised": (entropy / limit.where(choosing, 1.0))
        .masked_fill(~choosing, 0.0)
        .sum(dim=-1)
        / choosing.sum(dim=-1),
        "sink_score": (weights.sum(dim=-2) / count[..., None]).amax(dim=-1),
        "effective_span": span.sum(dim=-1) / count,
        "special_share": (weights * (cells.allowed & ~cells.ordinary)[:, None]).sum(dim=(-2, -1))
        / count,
    }
    if cells.kind is AttentionKind.CROSS:
        diagonal = weights * cells.diagonal()[:, None]
        found["diagonal_score"] = diagonal.sum(dim=(-2, -1)) / count
    return found


def by_offset(weights: Tensor) -> Tensor:
    """Σ_i A[i, i + k] for k = 1 − Q … K − 1: [B, H, Q, K] → [B, H, Q + K − 1]."""
    queries, keys = weights.shape[-2:]
    width = queries + keys - 1
    # In rows one longer than the result each row begins one place further to the right.
    padded = F.pad(weights.flip(-2), (0, queries)).flatten(-2)
    skewed = padded[..., : queries * width].reshape(*weights.shape[:-1], width)
    return skewed.sum(dim=-2)


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Means over the sentences; None where the kind of attention has no such number.

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
    mean_distance: float | None
    median_distance: int | None
    offset_shares: tuple[float, float, float] | None
    distance_histogram: tuple[float, ...] | None
    diagonal_score: float | None


class StatisticsSum:
    """Gathers the batches of a corpus."""

    def __init__(self) -> None:
        self._sums: dict[tuple[AttentionKind, int, str], npt.NDArray[np.float64]] = {}
        self._counts: dict[tuple[AttentionKind, int, str], npt.NDArray[np.float64]] = defaultdict(
            lambda: np.zeros(1)
        )

    def add(self, layer: int, weights: Tensor, cells: Cells) -> None:
        """weights [B, H, Q, K] of one layer of one kind."""
        for name, values in sentence_statistics(weights, cells).items():
            self._add((cells.kind, layer, name), values)
        if cells.kind is AttentionKind.CROSS:
            return
        length = weights.shape[-1]
        offsets = by_offset(weights)  # [B, H, 2n − 1]
        distances = offsets[..., length - 1 :].clone()
        distances[..., 1:] += offsets[..., : length - 1].flip(-1)
        self._add((cells.kind, layer, "distance"), distances / cells.queries[:, None, None])
        for offset in (-1, 0, 1):
            rows = (cells.queries - abs(offset)).clamp(min=1)[:, None]
            if length > abs(offset):
                share = offsets[..., length - 1 + offset] / rows
            else:
                share = offsets.new_zeros(offsets.shape[:2])
            self._add((cells.kind, layer, f"offset {offset}"), share)

    def _add(self, key: tuple[AttentionKind, int, str], values: Tensor) -> None:
        """[B, H] or [B, H, n]; numbers only."""
        array = values.double().cpu().numpy()
        known = np.isfinite(array)
        total = np.where(known, array, 0.0).sum(axis=0)
        before = self._sums.get(key, np.zeros(total.shape))
        if before.ndim == 2:  # batches differ in their longest distance
            width = max(before.shape[1], total.shape[1])
            before, total = (
                np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in (before, total)
            )
        self._sums[key] = before + total
        self._counts[key] = self._counts[key] + (
            known.sum(axis=0) if array.ndim == 2 else len(array)
        )

    def of(self, head: Head, place: int) -> CorpusStatistics:
        """``place``: of the head among those that its layer has."""

        def mean(name: str) -> float:
            return float(self._means(head, name)[place])

        cross = head.kind is AttentionKind.CROSS
        histogram = None if cross else self._means(head, "distance")[place]
        return CorpusStatistics(
            confidence=mean("confidence"),
            entropy=mean("entropy"),
            entropy_normalised=mean("entropy_normalised"),
            effective_span=mean("effective_span"),
            special_share=mean("special_share"),
            sink_score=mean("sink_score"),
            mean_distance=None
            if histogram is None
            else float(histogram @ np.arange(histogram.size)),
            median_distance=None
            if histogram is None
            else int(np.searchsorted(histogram.cumsum(), 0.5 * histogram.sum())),
            offset_shares=None
            if cross
            else (mean("offset -1"), mean("offset 0"), mean("offset 1")),
            distance_histogram=None if histogram is None else tuple(histogram.tolist()),
            diagonal_score=mean("diagonal_score") if cross else None,
        )

    def _means(self, head: Head, name: str) -> npt.NDArray[np.float64]:
        key = (head.kind, head.layer, name)
        result: npt.NDArray[np.float64] = self._sums[key] / np.maximum(self._counts[key], 1)
        return result
