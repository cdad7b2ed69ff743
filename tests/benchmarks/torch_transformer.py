"""The peer: torch.nn.Transformer as the paper's model, with the shape of a model of ours."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from core.config import ModelConfig
from core.model.positions import sinusoid_table

_POSITIONS = 512


class TorchTransformer(nn.Module):
    """Post-norm, one shared embedding, sinusoids, dropout on embeddings and residuals only.

    Dropout on attention weights and inside the feed-forward layers, which torch's layers also
    have, is off: the paper has none, and without it attention takes torch's fused kernel.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            d_model=config.d_model,
            nhead=config.encoder_heads,
            num_encoder_layers=config.encoder_layers,
            num_decoder_layers=config.decoder_layers,
            dim_feedforward=config.encoder_d_ff,
            dropout=config.dropout,
            batch_first=True,
        )
        for stack in (self.transformer.encoder, self.transformer.decoder):
            stack.norm = None
            for layer in stack.layers:
                layer.dropout.p = 0.0
        for module in self.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
        table = sinusoid_table(0, _POSITIONS, config.d_model)
        self.register_buffer("table", table, persistent=False)
        causal = nn.Transformer.generate_square_subsequent_mask(_POSITIONS)
        self.register_buffer("causal", causal, persistent=False)
        self.table: Tensor
        self.causal: Tensor

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """source [B, S], target_in [B, T] → logits [B, T, V]."""
        padding = source == self.config.pad_id
        mask = padding if bool(padding.any()) else None
        length = target_in.shape[1]
        hidden = self.transformer(
            self._embed(source),
            self._embed(target_in),
            tgt_mask=self.causal[:length, :length],
            src_key_padding_mask=mask,
            memory_key_padding_mask=mask,
            tgt_is_causal=True,
        )
        return F.linear(hidden, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) * self.config.d_model**0.5 + self.table[: ids.shape[1]]
        embedded: Tensor = self.dropout(x)
        return embedded
