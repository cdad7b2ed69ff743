"""What an update is to make small, as one module, so that several processes can share it.

Legend: B batch, S source, T target, D d_model, N target positions that are not padding, G glosses.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from core.model.transformer import Transformer
from core.training.batch import Batch
from core.training.config import TrainingConfig
from core.training.loss import cross_entropies, cross_entropy


class Objective(nn.Module):
    """The losses of a batch, summed; only the updater divides."""

    def __init__(self, model: Transformer, config: TrainingConfig) -> None:
        super().__init__()
        self.model = model
        self.config = config
        self._encode: Callable[[Tensor], Tensor] = model.encode
        self._decode: Callable[[Tensor, Tensor, Tensor], Tensor] = model.decode
        if config.compile:
            self._encode = torch.compile(model.encode, dynamic=True)
            self._decode = torch.compile(model.decode, dynamic=True)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the losses.

        They are the smoothed loss, that of the glosses, the memory [B, S, D], and the loss without
        smoothing, which has no gradient."""
        memory = self._encode(batch.source)
        loss, plain = self.target_losses(memory, batch)
        return loss, self.gloss_loss(memory, batch), memory, plain

    def target_losses(self, memory: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the losses with and without smoothing; padding never reaches the output layer."""
        hidden = self._decode(batch.target_in, memory, batch.source)  # [B, T, D]
        return cross_entropies(
            hidden.flatten(0, 1)[batch.real],  # [N, D]
            self.model.output_embedding.weight,
            self.model.output_bias,
            batch.target,
            smoothing=self.config.label_smoothing,
        )

    def gloss_loss(self, memory: Tensor, batch: Batch) -> Tensor:
        """Return the loss of the encoder's outputs at glossed words against their German words."""
        if self.config.gloss_weight == 0 or len(batch.gloss_at) == 0:
            return memory.new_zeros(())
        return cross_entropy(
            memory.flatten(0, 1)[batch.gloss_at],  # [G, D]
            self.model.output_embedding.weight,
            self.model.output_bias,
            batch.gloss_pieces,
        )
