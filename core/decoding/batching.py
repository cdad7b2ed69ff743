"""Sentences of similar length go through the model together.

Legend: B sentences, n length of the longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor


def padded(rows: Sequence[Sequence[int]], pad_id: int, device: torch.device) -> Tensor:
    """Return ids as one tensor, padded at the end: [B, n]."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows], device=device)


def batches_by_length(
    indices: Iterable[int], lengths: Sequence[int], budget: int
) -> Iterator[list[int]]:
    """Yield ``indices`` sorted by length and cut so that rows × longest stays within ``budget``.

    A sentence that passes the budget alone gets a batch of its own.
    """
    batch: list[int] = []
    for index in sorted(indices, key=lambda index: lengths[index]):
        if batch and (len(batch) + 1) * lengths[index] > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
