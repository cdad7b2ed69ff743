"""The decoder's memory between steps.

Legend: B sentences, R rows of each (its live hypotheses), N = B·R, H heads, S source positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from core.config import ModelConfig


@dataclass(frozen=True, slots=True)
class LayerCache:
    """What one decoder layer reads and writes at one step; views into a ``DecoderCache``."""

    keys: Tensor  # [N, H, capacity, d_k]
    values: Tensor  # [N, H, capacity, d_v]
    cross_keys: Tensor  # [B, H, S, d_k]
    cross_values: Tensor  # [B, H, S, d_v]
    source_allowed: Tensor | None  # [B, 1, 1, S]
    position: int

    @property
    def sentences(self) -> int:
        return len(self.cross_keys)


class DecoderCache:
    """Keys and values of all layers, allocated once for ``capacity`` positions.

    Everything that belongs to a row lives here, so that ``reorder`` and ``keep`` move all of it.
    """

    def __init__(
        self,
        config: ModelConfig,
        cross: list[tuple[Tensor, Tensor]],
        source_allowed: Tensor | None,
        rows_per_sentence: int,
        capacity: int,
    ) -> None:
        """``cross``: keys [B, H, S, d_k] and values [B, H, S, d_v] of each layer."""
        first = cross[0][0]
        rows = len(first) * rows_per_sentence
        shape = (config.decoder_layers, rows, config.decoder_heads, capacity)
        self.keys = first.new_empty(*shape, config.decoder_d_k)
        self.values = first.new_empty(*shape, config.decoder_d_v)
        self.cross = cross
        self.source_allowed = source_allowed
        self.rows_per_sentence = rows_per_sentence
        self.capacity = capacity
        self.length = 0

    @property
    def rows(self) -> int:
        return self.keys.shape[1]

    def layer(self, index: int) -> LayerCache:
        return LayerCache(
            self.keys[index],
            self.values[index],
            *self.cross[index],
            self.source_allowed,
            self.length,
        )

    def reorder(self, index: Tensor) -> None:
        """Row i goes on from what row ``index[i]`` was; index [N], within each sentence's rows."""
        past = slice(0, self.length)
        self.keys[..., past, :] = self.keys[:, index, :, past]
        self.values[..., past, :] = self.values[:, index, :, past]

    def keep(self, sentences: Tensor) -> None:
        """Go on with these sentences only; sentences [B'] ascending indices into the present B."""
        offsets = torch.arange(self.rows_per_sentence, device=sentences.device)
        rows = (sentences[:, None] * self.rows_per_sentence + offsets).flatten()
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]
        self.cross = [(key[sentences], value[sentences]) for key, value in self.cross]
        if self.source_allowed is not None:
            self.source_allowed = self.source_allowed[sentences]
