"""Multi-head attention (paper section 3.2).

Legend: B batch, Q queries, K keys, H heads (without pruned ones), D d_model, d_k and
d_v head widths.
Masks are boolean and True means "may attend".
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.positions import RotaryPositions
from core.model.product import Linear
from core.model.recording import Projections


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Return softmax(q kᵀ / √d_k) v (eq. 1), by torch's fused kernel.

    Args:
        query: [B, H, Q, d_k]; key: [B, H, K, d_k]; value: [B, H, K, d_v].
        allowed: boolean, broadcastable to [B, H, Q, K]. A query that may attend to nothing gets
            zeros.
        causal: query i may attend to keys 0 … i (Q = K); not together with ``allowed``.
        scale: multiplies q kᵀ in place of 1 / √d_k.

    Returns:
        [B, H, Q, d_v]
    """
    output: Tensor = F.scaled_dot_product_attention(
        query, key, value, attn_mask=allowed, is_causal=causal, scale=scale
    )
    return output


def attention_weights(
    query: Tensor, key: Tensor, allowed: Tensor | None = None, *, scale: float | None = None
) -> Tensor:
    """Return softmax(q kᵀ / √d_k), written out: the slow twin of ``attend``.

    ``scale`` multiplies q kᵀ in place of 1 / √d_k.

    Softmax runs in float32 at least; masked weights are exactly 0, and so is the whole row of a
    query that may attend to nothing.

    Returns:
        [B, H, Q, K]
    """
    products = query @ key.transpose(-2, -1)
    scores = products / query.shape[-1] ** 0.5 if scale is None else products * scale
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=-1)
    return weights.masked_fill(~allowed, 0.0)


def _linear(inputs: int, outputs: int, bias: bool) -> Linear:
    """Without torch's warning of a matrix without rows, in a layer whose heads are all pruned."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element tensors")
        return Linear(inputs, outputs, bias=bias)


class _Attention(nn.Module):
    """Splitting into heads and the output projection W^O, shared by both kinds below."""

    def __init__(self, d_model: int, heads: Sequence[int], d_k: int, d_v: int, bias: bool) -> None:
        """``heads``: their numbers; those that are missing were pruned."""
        super().__init__()
        self.heads = tuple(heads)
        self.d_k = d_k
        self.d_v = d_v
        self.output = _linear(len(heads) * d_v, d_model, bias)
        self.scale: float | None = None  # set by ``core.model.switched.switched``
        # Both are set by ``core.model.gates.gated``.
        self.gate: Tensor | None = None  # on the heads' outputs
        self.query_gate: Tensor | None = None  # 0 for an even head

    def split(self, x: Tensor, width: int) -> Tensor:
        """[B, n, H·d] → [B, H, n, d], a view; ``width`` is d."""
        batch, length, _ = x.shape
        return x.view(batch, length, len(self.heads), width).transpose(1, 2)

    def gated_query(self, query: Tensor) -> Tensor:
        """Set the queries [B, H, Q, d_k] of even heads to 0."""
        return query if self.query_gate is None else query * self.query_gate

    def concatenate(self, heads: Tensor) -> Tensor:
        """Concat(head_1 … head_h), each times its gate: [B, H, Q, d_v] → [B, Q, H·d_v]."""
        if self.gate is not None:
            heads = heads * self.gate
        return heads.transpose(1, 2).flatten(2)

    def merge(self, heads: Tensor) -> Tensor:
        """Concat(head_1 … head_h) W^O: [B, H, Q, d_v] → [B, Q, D]."""
        projected: Tensor = self.output(self.concatenate(heads))
        return projected


class SelfAttention(_Attention):
    """Attention whose queries, keys and values come from the same sequence, projected by one matrix
    product."""

    def __init__(
        self,
        d_model: int,
        heads: Sequence[int],
        d_k: int,
        d_v: int,
        bias: bool,
        *,
        rotary: bool = False,
    ) -> None:
        """``rotary``: whether queries and keys are turned by their position."""
        super().__init__(d_model, heads, d_k, d_v, bias)
        self.rotary = RotaryPositions(d_k) if rotary else None
        self.widths = [len(heads) * d_k, len(heads) * d_k, len(heads) * d_v]
        self.query_key_value = _linear(d_model, sum(self.widths), bias)

    def project(self, x: Tensor) -> Projections:
        """Project x [B, n, D] → q, k [B, H, n, d_k], as they meet in a product, and v [B, H, n,
        d_v]."""
        query, key, value = self.query_key_value(x).split(self.widths, dim=-1)
        query, key = self.split(query, self.d_k), self.split(key, self.d_k)
        if self.rotary is not None:
            query, key = self.rotary(query), self.rotary(key)
        return Projections(self.gated_query(query), key, self.split(value, self.d_v))

    def forward(
        self,
        x: Tensor,
        allowed: Tensor | None = None,
        *,
        causal: bool = False,
        recorded: list[Projections] | None = None,
    ) -> Tensor:
        """Attend: x [B, n, D], allowed broadcastable to [B, H, n, n] → [B, n, D]."""
        heads = self.project(x)
        if recorded is not None:
            recorded.append(heads)
        attended = attend(
            heads.query, heads.key, heads.value, allowed, causal=causal, scale=self.scale
        )
        return self.merge(attended)


class CrossAttention(_Attention):
    """Attention with queries from the decoder, keys and values from the encoder's output."""

    def __init__(self, d_model: int, heads: Sequence[int], d_k: int, d_v: int, bias: bool) -> None:
        super().__init__(d_model, heads, d_k, d_v, bias)
        self.widths = [len(heads) * d_k, len(heads) * d_v]
        self.query = _linear(d_model, len(heads) * d_k, bias)
        self.key_value = _linear(d_model, sum(self.widths), bias)

    def project_memory(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Project memory [B, S, D] → keys [B, H, S, d_k] and values [B, H, S, d_v]."""
        key, value = self.key_value(memory).split(self.widths, dim=-1)
        return self.split(key, self.d_k), self.split(value, self.d_v)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        allowed: Tensor | None,
        recorded: list[Projections] | None = None,
    ) -> Tensor:
        """Attend: x [B, T, D], memory [B, S, D], allowed broadcastable to [B, H, T, S] → [B, T,
        D]."""
        key, value = self.project_memory(memory)
        query = self.gated_query(self.split(self.query(x), self.d_k))
        if recorded is not None:
            recorded.append(Projections(query, key, value))
        return self.merge(attend(query, key, value, allowed, scale=self.scale))
