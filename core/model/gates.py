"""Heads switched off, scaled or made even.

A factor on each head's output switches it off or scales it (Michel et al. 2019, eq. 2):
MHAtt(x) = Σ_h ξ_h Att_h(x), the factor ξ_h acting before the output projection W^O. Its bias, the
residual and what the head attends to stay.

An even head has its queries set to 0. All its scores are then 0, and their softmax is the uniform
average over the keys that the mask allows, in whole, cached and recorded passes alike.

Legend: B batch, L layers, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from core.config import ModelConfig
from core.errors import UserError
from core.heads import EVEN, AttentionKind, Gate, Head
from core.model.transformer import Transformer


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """The factors of each kind of attention: [L, H], or [B, L, H] with those of each example.

    Those of each example are for whole passes; a search leaves finished sentences out as it goes
    on and takes the same factors for all.

    Attributes:
        factors: on the outputs of heads.
        queries: on their queries: 1, or 0 for an even head.
    """

    factors: Mapping[AttentionKind, Tensor]
    queries: Mapping[AttentionKind, Tensor]

    @classmethod
    def open(cls, config: ModelConfig, batch: int | None = None) -> Self:
        """Every factor 1: the outputs of the model without gates, to the bit."""
        of_each = () if batch is None else (batch,)

        def ones() -> dict[AttentionKind, Tensor]:
            return {
                kind: torch.ones(*of_each, config.layers(kind), config.heads(kind))
                for kind in AttentionKind
            }

        return cls(ones(), ones())

    @classmethod
    def of(cls, config: ModelConfig, chosen: Mapping[Head, Gate]) -> Self:
        """Return the gates of these heads, with all others on.

        Raises:
            UserError: the model has no such head, or a factor is not finite.
        """
        gates = cls.open(config)
        for head, gate in chosen.items():
            config.require_head(head)
            if gate == EVEN:
                gates.queries[head.kind][head.layer, head.head] = 0
            elif math.isfinite(gate):
                gates.factors[head.kind][head.layer, head.head] = gate
            else:
                raise UserError(f"The factor of {head.name} is {gate}; use a finite number.")
        return gates

    @classmethod
    def stacked(cls, settings: Sequence[Gates]) -> Self:
        """Return the gates of a batch, [B, L, H], each example with a setting of its own."""
        return cls(
            {kind: torch.stack([one.factors[kind] for one in settings]) for kind in AttentionKind},
            {kind: torch.stack([one.queries[kind] for one in settings]) for kind in AttentionKind},
        )

    def requires_grad(self) -> Self:
        """The same, after which a backward pass leaves ∂loss/∂ξ in each factor's ``grad``."""
        for factors in self.factors.values():
            factors.requires_grad_()
        return self


def gates_of(model: Transformer) -> dict[Head, Gate]:
    """The heads that are gated now, with their factors to six digits behind the point, as far as
    float32 is right."""
    found: dict[Head, Gate] = {}
    for kind in AttentionKind:
        for layer, block in enumerate(model.attention_blocks(kind)):
            if block.gate is not None:
                for head, factor in zip(block.heads, block.gate.flatten().tolist(), strict=True):
                    if factor != 1:
                        found[Head(kind, layer, head)] = round(factor, 6)
            if block.query_gate is not None:
                for head, factor in zip(
                    block.heads, block.query_gate.flatten().tolist(), strict=True
                ):
                    if factor == 0:
                        found[Head(kind, layer, head)] = EVEN
    return found


@contextmanager
def gated(model: Transformer, gates: Gates) -> Iterator[None]:
    """Every pass of the model inside is gated: whole, recorded, cached, by any search.

    Gates do not multiply: inside another ``gated``, the inner one holds alone.
    """
    blocks = [
        (kind, layer, block)
        for kind in AttentionKind
        for layer, block in enumerate(model.attention_blocks(kind))
    ]
    before = [(block.gate, block.query_gate) for *_, block in blocks]
    like = model.source_embedding.weight
    try:
        for kind, layer, block in blocks:
            factors, queries = (
                of[kind][..., layer, list(block.heads), None, None]  # [(B,) H, 1, 1]
                for of in (gates.factors, gates.queries)
            )
            block.gate = factors.to(like)
            block.query_gate = None if bool((queries == 1).all()) else queries.to(like)
        yield
    finally:
        for (*_, block), (gate, query_gate) in zip(blocks, before, strict=True):
            block.gate, block.query_gate = gate, query_gate
