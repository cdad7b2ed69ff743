"""What every head does over many sentences, in the numbers of `core.statistics`.

A number over a corpus is the mean over its sentences of the sentence's own number, which in turn is
a mean over the queries; formulas in docs/formulas.md.

Legend: B sentences of a batch, L layers, H heads, Q queries, K keys, n longest distance + 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch.nn.functional as F
from torch import Tensor

from core.analysis.passes import Pass
from core.heads import AttentionKind, Head
from core.statistics.batches import Cells, sentence_statistics
from core.statistics.registry import OF_CORPORA

Numbers: TypeAlias = npt.NDArray[np.float64]
_Key: TypeAlias = tuple[AttentionKind, int, str]  # kind, layer, name of the statistic


def cells_of(batch: Pass, kind: AttentionKind, special: Tensor) -> Cells:
    """Classify the cells of a pass; ``special`` [V] says which ids are special tokens."""
    allowed = batch.allowed(kind)
    return Cells(
        kind=kind,
        allowed=allowed,
        ordinary=allowed & ~special[batch.keys(kind)][:, None, :],
        queries=batch.query_lengths(kind),
        keys=batch.key_lengths(kind),
        key_ids=batch.keys(kind),
    )


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
    """A head's means over the sentences of a corpus.

    Attributes:
        values: by the ids of `core.statistics.registry`, without those that this kind of attention
            does not have and those for which no sentence counts.
        distance_histogram: the share of the weight at |i − j| = 0, 1, 2, …; None for
            cross-attention.
    """

    values: Mapping[str, float]
    distance_histogram: tuple[float, ...] | None = None

    def __getitem__(self, id: str) -> float | None:
        """Return a statistic by its id, None if the head does not have it here."""
        return self.values.get(id)


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

        values = {
            one.id: float(self._sums[key][place] / self._counts[key][place])
            for one in OF_CORPORA
            for key in [(*block, one.id)]
            if key in self._counts and self._counts[key][place]
        }
        if head.kind is AttentionKind.CROSS:
            return CorpusStatistics(values)
        histogram = self._distances[block][place] / self._sentences[block]
        median = int(np.searchsorted(histogram.cumsum(), 0.5 * histogram.sum()))
        return CorpusStatistics(values | {"median_distance": median}, tuple(histogram.tolist()))


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
