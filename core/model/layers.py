"""Encoder and decoder layers (paper section 3.1, figure 1).

Legend: B batch, S source, T target, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from core.config import ModelConfig
from core.heads import AttentionKind
from core.model.attention import CrossAttention, SelfAttention
from core.model.dropout import Dropout
from core.model.product import Linear
from core.model.recording import Recording

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu_,
    "gelu": F.gelu,
    "silu": F.silu,
}


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), or x + Dropout(Sublayer(LayerNorm(x))) for pre-norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            return self.dropout.add(x, sublayer(self.norm(x)))
        post: Tensor = self.norm(self.dropout.add(x, sublayer(x)))
        return post


class FeedForward(nn.Module):
    """FFN(x) = activation(x W_1 + b_1) W_2 + b_2, each position by itself (eq. 2)."""

    def __init__(self, d_model: int, d_ff: int, activation: str) -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff)
        self.outer = Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        """Apply the network to each position: [B, n, D] → [B, n, D]."""
        # As a matrix, so that the activation in place changes no view, which autograd would copy.
        rows = self.inner(x.flatten(0, 1))
        y: Tensor = self.outer(self.activation(rows))
        return y.view_as(x)


class EncoderLayer(nn.Module):
    """A layer of self-attention and feed-forward, each in its residual."""

    def __init__(self, config: ModelConfig, number: int) -> None:
        """Build layer ``number``, counted from 0."""
        super().__init__()
        self.self_attention = SelfAttention(
            config.d_model,
            config.kept_heads(AttentionKind.ENCODER_SELF, number),
            config.encoder_d_k,
            config.encoder_d_v,
            config.bias,
            rotary=config.positions == "rotary",
        )
        self.self_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config.d_model, config.encoder_d_ff, config.activation)
        self.feed_forward_residual = Residual(config)

    def forward(
        self, x: Tensor, source_allowed: Tensor | None, recording: Recording | None = None
    ) -> Tensor:
        """Encode: x [B, S, D], source_allowed [B, 1, 1, S] → [B, S, D]."""
        recorded = recording.encoder_self if recording else None
        x = self.self_attention_residual(
            x, lambda y: self.self_attention(y, source_allowed, recorded=recorded)
        )
        x = self.feed_forward_residual(x, self.feed_forward)
        return x


class DecoderLayer(nn.Module):
    """A layer of masked self-attention, cross-attention and feed-forward, each in its residual."""

    def __init__(self, config: ModelConfig, number: int) -> None:
        """Build layer ``number``, counted from 0."""
        super().__init__()
        own = config.kept_heads(AttentionKind.DECODER_SELF, number)
        crossed = config.kept_heads(AttentionKind.CROSS, number)
        widths = (config.decoder_d_k, config.decoder_d_v)
        self.self_attention = SelfAttention(
            config.d_model, own, *widths, config.bias, rotary=config.positions == "rotary"
        )
        self.self_attention_residual = Residual(config)
        self.cross_attention = CrossAttention(config.d_model, crossed, *widths, config.bias)
        self.cross_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config.d_model, config.decoder_d_ff, config.activation)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        source_allowed: Tensor | None,
        recording: Recording | None = None,
        target_allowed: Tensor | None = None,
    ) -> Tensor:
        """Decode: x [B, T, D], memory [B, S, D], source_allowed [B, 1, 1, S] → [B, T, D].

        target_allowed [B, 1, 1, T] takes the place of the causal mask.
        """
        decoder_self = recording.decoder_self if recording else None
        cross = recording.cross if recording else None
        x = self.self_attention_residual(
            x,
            lambda y: self.self_attention(
                y, target_allowed, causal=target_allowed is None, recorded=decoder_self
            ),
        )
        x = self.cross_attention_residual(
            x, lambda y: self.cross_attention(y, memory, source_allowed, cross)
        )
        x = self.feed_forward_residual(x, self.feed_forward)
        return x
