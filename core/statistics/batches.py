"""The statistics of all heads of a layer on a batch of sentences, with torch.

Legend: B sentences of a batch, H heads, Q queries, K keys; sentences are padded at their ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from core.heads import AttentionKind
from core.statistics.registry import OF_CORPORA


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

    @property
    def real(self) -> Tensor:
        """The real queries, [B, Q]."""
        return self.allowed.any(dim=2)

    @property
    def straight(self) -> Tensor:
        """The key round(i · n / m) of n for each query i of m, [B, Q]."""
        rows = torch.arange(self.allowed.shape[1], device=self.allowed.device)
        straight = (rows * self.keys[:, None] / self.queries[:, None] + 0.5).floor()
        nearest: Tensor = straight.minimum(self.keys[:, None] - 1)
        return nearest.long()

    def diagonal(self) -> Tensor:
        """Return the cells on the keys that ``straight`` names, [B, Q, K]."""
        keys = torch.arange(self.allowed.shape[2], device=self.allowed.device)
        return self.allowed & (keys == self.straight[:, :, None])


@dataclass(frozen=True, eq=False)
class BatchRows:
    """The rows of a batch's maps, and what several statistics compute from them.

    Attributes:
        weights: [B, H, Q, K], 0 outside ``cells.allowed``.
    """

    weights: Tensor
    cells: Cells

    @cached_property
    def ordinary(self) -> Tensor:
        """The weights on keys that are not special and 0 elsewhere, [B, H, Q, K]."""
        return self.weights.masked_fill(~self.cells.ordinary[:, None], 0.0)

    @cached_property
    def entropy(self) -> Tensor:
        """−Σ_j A log₂ A in bits, [B, H, Q]."""
        bits: Tensor = torch.special.entr(self.weights).sum(dim=-1) / math.log(2)
        return bits

    @property
    def entropy_of_limit(self) -> Tensor:
        """The entropy over log₂ of the number of allowed keys, [B, H, Q]; not a number for one."""
        limit = self.cells.allowed.sum(dim=2).clamp(min=1).log2()[:, None]  # [B, 1, Q]
        return self.entropy / limit.where(limit > 0, math.nan)

    @property
    def distance(self) -> Tensor:
        """Σ_j A |i − j| in tokens, [B, H, Q]."""
        queries, keys = (
            torch.arange(size, device=self.weights.device) for size in self.weights.shape[-2:]
        )
        distances = (queries[:, None] - keys).abs().to(self.weights.dtype)
        return torch.einsum("bhqk,qk->bhq", self.weights, distances)

    def at_offset(self, offset: int) -> Tensor:
        """Return A[i, i + offset], [B, H, Q]; not a number where there is no such key."""
        queries = torch.arange(self.weights.shape[-2], device=self.weights.device)
        return self.on_keys((queries + offset).expand(len(self.weights), -1))

    def on_keys(self, keys: Tensor) -> Tensor:
        """Return the weight of each query on one key, keys [B, Q] → [B, H, Q]; not a number where
        there is no such key."""
        inside = (keys >= 0) & (keys < self.cells.keys[:, None])
        index = keys.where(inside, 0)[:, None, :, None]
        heads = self.weights.shape[1]
        found = self.weights.gather(-1, index.expand(-1, heads, -1, -1)).squeeze(-1)
        return found.where(inside[:, None], math.nan)


def sentence_statistics(weights: Tensor, cells: Cells) -> dict[str, Tensor]:
    """Return the statistics ``OF_CORPORA`` of each sentence and head by id, [B, H] each; not a
    number for a sentence of which no query counts.

    weights [B, H, Q, K], 0 outside ``cells.allowed``.
    """
    rows = BatchRows(weights, cells)
    padding = ~cells.real[:, None]
    received = weights.sum(dim=-2) / cells.queries[:, None, None]  # [B, H, K]
    found = {}
    for one in OF_CORPORA:
        if cells.kind not in one.kinds:
            continue
        if one.batch_rows is not None:
            found[one.id] = one.batch_rows(rows).masked_fill(padding, math.nan).nanmean(dim=-1)
        elif one.batch_keys is not None:
            found[one.id] = one.batch_keys(received)
    return found
