"""The decoder's memory between steps.

Legend: B sentences, R rows of each (its live hypotheses), N = B·R, H heads, S source positions,
C = capacity·R slots, one for each row at each target position.

The keys and values of all rows of a sentence lie side by side, and each row has a mask that says
which slots are its own past. So hypotheses that split share what they have in common, and going
on from another row copies a line of the mask, never keys and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from core.config import ModelConfig
from core.heads import AttentionKind
from core.model.recording import Projections

if TYPE_CHECKING:
    from core.model.step import DecoderStep


class LayerCache(NamedTuple):
    """What one decoder layer reads and writes at one step; views into a ``DecoderCache``."""

    position: int  # of this step
    new_keys: Tensor  # [B, H, R, d_k], the slots of this step
    new_values: Tensor  # [B, H, R, d_v]
    keys: Tensor  # [B, H, filled + R, d_k], those of this step and all before it
    values: Tensor  # [B, H, filled + R, d_v]
    past: Tensor | None  # [B, 1, R, filled + R], or None for everywhere
    cross_keys: Tensor  # [B, H, S, d_k]
    cross_values: Tensor  # [B, H, S, d_v]
    source_allowed: Tensor | None  # [B, 1, 1, S], or None for everywhere


class DecoderCache:
    """The keys and values of all layers, allocated once for ``capacity`` positions.

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
        sentences, slots = len(first), capacity * rows_per_sentence
        shape = (config.decoder_layers, sentences, config.decoder_heads, slots)
        self.keys = first.new_empty(*shape, config.decoder_d_k)
        self.values = first.new_empty(*shape, config.decoder_d_v)
        # Without reordering, a row's past is its own slot at every position.
        own = torch.eye(rows_per_sentence, dtype=torch.bool, device=first.device)
        self.past = own.repeat(1, capacity).repeat(sentences, 1, 1)  # [B, R, C]
        self.heads = [
            len(config.kept_heads(AttentionKind.DECODER_SELF, layer))
            for layer in range(config.decoder_layers)
        ]
        self.cross = cross
        self.source_allowed = source_allowed
        self.rows_per_sentence = rows_per_sentence
        self.capacity = capacity
        self.length = 0
        self.step: DecoderStep | None = None
        """Set by ``Transformer.start_cache``: what that model's decoder does at a position."""

    @property
    def sentences(self) -> int:
        return len(self.past)

    @property
    def rows(self) -> int:
        return self.sentences * self.rows_per_sentence

    @property
    def filled(self) -> int:
        return self.length * self.rows_per_sentence

    def layers(self) -> list[LayerCache]:
        rows, end = self.rows_per_sentence, self.filled + self.rows_per_sentence
        past = None if rows == 1 else self.past[:, None, :, :end]
        return [
            LayerCache(
                self.length, new_keys, new_values, keys, values, past, *cross, self.source_allowed
            )
            for new_keys, new_values, keys, values, cross in zip(
                self._of_each_layer(self.keys.narrow(3, self.filled, rows)),
                self._of_each_layer(self.values.narrow(3, self.filled, rows)),
                self._of_each_layer(self.keys.narrow(3, 0, end)),
                self._of_each_layer(self.values.narrow(3, 0, end)),
                self.cross,
                strict=True,
            )
        ]

    def fill(self, recorded: Sequence[Projections], length: int) -> None:
        """Take over the first positions of a recorded pass over one row of each sentence.

        Args:
            recorded: the decoder's self-attention, one for each layer.
        """
        for whole, taken in (
            (self.keys, [one.key for one in recorded]),
            (self.values, [one.value for one in recorded]),
        ):
            for own, one in zip(self._of_each_layer(whole), taken, strict=True):
                own[:, :, :length] = one[:, :, :length]
        self.length = length

    def _of_each_layer(self, whole: Tensor) -> list[Tensor]:
        """[L, B, H, n, d] → [B, H, n, d] of each layer, without the heads that it lacks."""
        most = whole.shape[2]
        return [
            one if heads == most else one[:, :heads]
            for one, heads in zip(whole.unbind(), self.heads, strict=True)
        ]

    def reorder(self, index: Tensor) -> None:
        """Let row i go on from what row ``index[i]`` was; index [N], within each sentence's
        rows."""
        rows = index.view(self.sentences, -1) % self.rows_per_sentence  # [B, R]
        sentences = torch.arange(self.sentences, device=index.device)[:, None]
        self.past[..., : self.filled] = self.past[sentences, rows, : self.filled]

    def keep(self, sentences: Tensor) -> None:
        """Go on with these sentences only; sentences [B'] ascending indices into the present B."""
        count, used = len(sentences), slice(0, self.filled)
        self.keys[:, :count, :, used] = self.keys[:, sentences, :, used]
        self.values[:, :count, :, used] = self.values[:, sentences, :, used]
        self.keys, self.values = self.keys[:, :count], self.values[:, :count]
        self.past = self.past[sentences]
        self.cross = [(key[sentences], value[sentences]) for key, value in self.cross]
        if self.source_allowed is not None:
            self.source_allowed = self.source_allowed[sentences]
