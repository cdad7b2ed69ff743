"""What a pass leaves behind when it is watched: queries, keys and values, never n × n maps.

Legend: B batch, H heads (without pruned ones), Q queries, K keys, d_k and d_v head widths.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Projections:
    """One attention block's inputs to eq. 1, unscaled: softmax(q kᵀ / √d_k) v."""

    query: Tensor  # [B, H, Q, d_k]
    key: Tensor  # [B, H, K, d_k]
    value: Tensor  # [B, H, K, d_v]


@dataclass(slots=True)
class Recording:
    """What ``Transformer.encode`` and ``Transformer.decode`` record, one entry per layer.

    The tensors are views of what the pass computed anyway, so recording changes no output and
    costs O(n·d) memory a layer.
    """

    encoder_self: list[Projections] = field(default_factory=list)
    decoder_self: list[Projections] = field(default_factory=list)
    cross: list[Projections] = field(default_factory=list)
