"""Heads switched off or scaled: a factor on each head's output (Michel et al. 2019, eq. 2).

MHAtt(x) = Σ_h ξ_h Att_h(x), the factor ξ_h acting before the output projection W^O. Its bias, the
residual and what the head attends to stay.

Legend: B batch, L layers, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from core.config import ModelConfig
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """The factors of each kind of attention: [L, H], or [B, L, H] with those of each example.

    Those of each example are for whole passes; a search leaves finished sentences out as it goes
    on and takes the same factors for all.
    """

    factors: Mapping[AttentionKind, Tensor]

    @classmethod
    def open(cls, config: ModelConfig, batch: int | None = None) -> Self:
        """Every factor 1: the outputs of the model without gates, to the bit."""
        of_each = () if batch is None else (batch,)
        return cls(
            {
                kind: torch.ones(*of_each, config.layers(kind), config.heads(kind))
                for kind in AttentionKind
            }
        )

    @classmethod
    def of(cls, config: ModelConfig, factors: Mapping[Head, float]) -> Self:
        """Return these heads' factors, with 1 for all others.

        Raises:
            UserError: the model has no such head, or a factor is not finite.
        """
        gates = cls.open(config)
        for head, factor in factors.items():
            config.require_head(head)
            if not math.isfinite(factor):
                raise UserError(f"The factor of {head.name} is {factor}; use a finite number.")
            gates.factors[head.kind][head.layer, head.head] = factor
        return gates

    def requires_grad(self) -> Self:
        """The same, after which a backward pass leaves ∂loss/∂ξ in each factor's ``grad``."""
        for factors in self.factors.values():
            factors.requires_grad_()
        return self


def gates_of(model: Transformer) -> dict[Head, float]:
    """The heads that are gated now, with their factors to six digits behind the point, as far as
    float32 is right."""
    return {
        Head(kind, layer, head): round(factor, 6)
        for kind in AttentionKind
        for layer, block in enumerate(model.attention_blocks(kind))
        if block.gate is not None
        for head, factor in zip(block.heads, block.gate.flatten().tolist(), strict=True)
        if factor != 1
    }


@contextmanager
def gated(model: Transformer, gates: Gates) -> Iterator[None]:
    """Every pass of the model inside is gated: whole, recorded, cached, by any search.

    Gates do not multiply: inside another ``gated``, the inner one holds alone.
    """
    blocks = [
        (block, gates.factors[kind][..., layer, list(block.heads), None, None])  # [(B,) H, 1, 1]
        for kind in AttentionKind
        for layer, block in enumerate(model.attention_blocks(kind))
    ]
    before = [block.gate for block, _ in blocks]
    try:
        for block, factors in blocks:
            block.gate = factors.to(model.source_embedding.weight)
        yield
    finally:
        for (block, _), gate in zip(blocks, before, strict=True):
            block.gate = gate
