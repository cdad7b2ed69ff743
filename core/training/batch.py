"""The tensors of one batch.

Legend: B pairs, S source, T target, N target positions that are not padding, G glosses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from core.config import ModelConfig
from core.corpus.ragged import Indices
from core.training.pairs import EncodedPairs


@dataclass(frozen=True, slots=True)
class Batch:
    source: Tensor  # [B, S], each row ends with the end token, then padding
    target_in: Tensor  # [B, T], the target shifted right behind the begin token
    target: Tensor  # [N], what is to be predicted, row after row
    real: Tensor  # [N], where those stand among the B·T positions
    gloss_at: Tensor  # [G], where glossed words stand among the B·S positions
    gloss_pieces: Tensor  # [G]

    @property
    def tokens(self) -> int:
        return len(self.target)

    def without_targets(self) -> Batch:
        """The same sentences with nothing to predict: loss and gradient are 0."""
        return replace(
            self,
            target=self.target[:0],
            real=self.real[:0],
            gloss_at=self.gloss_at[:0],
            gloss_pieces=self.gloss_pieces[:0],
        )


def make_batch(
    pairs: EncodedPairs, indices: Indices, config: ModelConfig, device: torch.device
) -> Batch:
    """Pad the chosen pairs to the longest among them."""
    source = pairs.source.padded(indices, config.pad_id)  # [B, S]
    target = pairs.target.padded(indices, config.pad_id)  # [B, T]
    target_in = np.full_like(target, config.bos_id)
    target_in[:, 1:] = target[:, :-1]
    real = np.flatnonzero(target != config.pad_id)
    gloss_positions, glosses = pairs.gloss_positions.gather(indices)
    gloss_at = np.repeat(np.arange(len(indices)), glosses) * source.shape[1] + gloss_positions
    gloss_pieces, _ = pairs.gloss_pieces.gather(indices)

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(array.astype(np.int64, copy=False)).to(device)

    return Batch(
        source=tensor(source),
        target_in=tensor(target_in),
        target=tensor(target.reshape(-1)[real]),
        real=tensor(real),
        gloss_at=tensor(gloss_at),
        gloss_pieces=tensor(gloss_pieces),
    )
