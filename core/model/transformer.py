"""The Transformer (paper section 3, figure 1).

Legend: B batch, S source, T target, D d_model, V vocabulary, N sentences × rows being decoded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from core.config import ModelConfig
from core.heads import AttentionKind
from core.model.attention import CrossAttention, SelfAttention
from core.model.cache import DecoderCache
from core.model.dropout import Dropout
from core.model.layers import DecoderLayer, EncoderLayer
from core.model.positions import NoPositions, Positions, positions
from core.model.product import Product
from core.model.recording import Recording
from core.model.step import DecoderStep
from core.switches import Scaling


class Transformer(nn.Module):
    """The model: ids in, scores of the next id out.

    Source and target ids are padded at the end with ``config.pad_id``. Padding of the source is
    never attended to. Padding of the target comes after every real position, so the causal mask
    hides it; what its own rows give is meaningless and left out of every loss.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.target_embedding = (
            self.source_embedding
            if config.shared_embeddings in ("all", "inputs")
            else nn.Embedding(config.target_vocabulary, config.d_model)
        )
        self.output_embedding = (
            self.target_embedding
            if config.shared_embeddings in ("all", "target")
            else nn.Embedding(config.target_vocabulary, config.d_model)
        )
        self.output_bias = (
            nn.Parameter(torch.zeros(config.target_vocabulary)) if config.output_bias else None
        )
        self.int8_output: nn.Module | None = None  # set by ``core.model.int8.to_int8``
        self._output = Product()
        self.positions: Positions = positions(config)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(
            EncoderLayer(config, number) for number in range(config.encoder_layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(config, number) for number in range(config.decoder_layers)
        )
        # Both are changed by ``core.model.switched.switched``.
        self.scaling = Scaling.ON
        self.masked = config.decoder_mask
        self.encoder_norm = self._final_norm()
        self.decoder_norm = self._final_norm()

    def _final_norm(self) -> nn.Module:
        """Pre-norm stacks end in a norm; the paper's post-norm stacks already did."""
        if not self.config.has_top_norm:
            return nn.Identity()
        return nn.LayerNorm(self.config.d_model, eps=self.config.norm_epsilon)

    def train(self, mode: bool = True) -> Transformer:
        self._output.forget()  # an optimiser may have changed the weights
        super().train(mode)
        return self

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Run the model: source [B, S] and target_in [B, T] (shifted right) → logits [B, T, V]."""
        return self.logits(self.decode(target_in, self.encode(source), source))

    def encode(self, source: Tensor, recording: Recording | None = None) -> Tensor:
        """Encode: source [B, S] → memory [B, S, D]."""
        allowed = self.source_allowed(source)
        x = self._positioned(self.source_embedding(source))
        for layer in self.encoder:
            x = layer(x, allowed, recording)
        memory: Tensor = self.encoder_norm(x)
        return memory

    def decode(
        self,
        target_in: Tensor,
        memory: Tensor,
        source: Tensor,
        recording: Recording | None = None,
    ) -> Tensor:
        """Decode: target_in [B, T], memory [B, S, D], source [B, S] → hidden [B, T, D]."""
        allowed = self.source_allowed(source)
        x = self.target_embedding(target_in)
        if self.config.decoder_start == "zero":
            x = torch.cat([torch.zeros_like(x[:, :1]), x[:, 1:]], dim=1)
        x = self._positioned(x)
        target_allowed = None if self.masked else self._real_targets(target_in)
        for layer in self.decoder:
            x = layer(x, memory, allowed, recording, target_allowed)
        hidden: Tensor = self.decoder_norm(x)
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Score the vocabulary: […, D] → […, V], by the embedding matrix where it is shared
        (section 3.4)."""
        if self.int8_output is None:
            logits = self._output(hidden, self.output_embedding.weight, self.output_bias)
        else:
            logits = self.int8_output(hidden)
        return self._suppress(logits)

    def bound_logits(self, rows: int) -> Callable[[Tensor], Tensor]:
        """What ``logits`` computes of [N, D]; see ``Product.bound``."""
        if self.int8_output is None:
            output = self._output.bound(self.output_embedding.weight, self.output_bias, rows)
        else:
            output = self.int8_output.forward
        if not self.config.suppressed_ids:
            return output
        return lambda hidden: self._suppress(output(hidden))

    def _suppress(self, logits: Tensor) -> Tensor:
        for id in self.config.suppressed_ids:
            logits[..., id] = float("-inf")
        return logits

    def start_cache(
        self, memory: Tensor, source: Tensor, *, rows_per_sentence: int = 1, capacity: int
    ) -> DecoderCache:
        """Allocate a cache for ``capacity`` target positions of B·rows_per_sentence hypotheses.

        memory [B, S, D], source [B, S].
        """
        cross = [layer.cross_attention.project_memory(memory) for layer in self.decoder_layers()]
        allowed = self.source_allowed(source)
        cache = DecoderCache(self.config, cross, allowed, rows_per_sentence, capacity)
        cache.step = DecoderStep(self, cache.sentences, rows_per_sentence)
        return cache

    def step(
        self, tokens: Tensor, cache: DecoderCache, recording: Recording | None = None
    ) -> Tensor:
        """Feed each row its next token: tokens [N] → logits [N, V]; the cache grows by one.

        What is recorded are views into the cache, good until its next ``reorder`` or ``keep``;
        a sentence's rows are its queries, and with several of them their keys are the slots that
        ``DecoderCache`` describes.
        """
        assert cache.step is not None, "a cache made by start_cache"
        return cache.step(tokens, cache, recording)

    def without_positions(self) -> Transformer:
        """The same model, its weights shared, with nothing added or turned for the position."""
        if self.config.positions == "rotary":
            shared = {id(parameter): parameter for parameter in self.parameters()}
            twin = copy.deepcopy(self, shared)
            for kind in (AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF):
                for block in twin.attention_blocks(kind):
                    block.rotary = None
            return twin
        twin = copy.copy(self)
        twin._modules = dict(self._modules)
        twin.positions = NoPositions(self.config.d_model).to(self.source_embedding.weight)
        return twin

    @property
    def device(self) -> torch.device:
        return self.source_embedding.weight.device

    def encoder_layers(self) -> Iterator[EncoderLayer]:
        for layer in self.encoder:
            assert isinstance(layer, EncoderLayer)
            yield layer

    def decoder_layers(self) -> Iterator[DecoderLayer]:
        for layer in self.decoder:
            assert isinstance(layer, DecoderLayer)
            yield layer

    def attention_blocks(self, kind: AttentionKind) -> Sequence[SelfAttention | CrossAttention]:
        """The blocks of one kind, one a layer."""
        if kind is AttentionKind.ENCODER_SELF:
            return [layer.self_attention for layer in self.encoder_layers()]
        if kind is AttentionKind.DECODER_SELF:
            return [layer.self_attention for layer in self.decoder_layers()]
        return [layer.cross_attention for layer in self.decoder_layers()]

    def source_allowed(self, source: Tensor) -> Tensor | None:
        """Return where attention to the source may go: [B, 1, 1, S], or None for everywhere."""
        allowed = source != self.config.pad_id
        looks = source.device.type == "cpu" and not torch.compiler.is_compiling()
        if looks and bool(allowed.all()):
            return None
        return allowed[:, None, None, :]

    def _real_targets(self, target_in: Tensor) -> Tensor:
        """Return which target positions are no padding, [B, 1, 1, T]; the first one never is."""
        real = target_in != self.config.pad_id
        real[:, 0] = True
        return real[:, None, None, :]

    def _positioned(self, embedded: Tensor) -> Tensor:
        """Embeddings [B, n, D], scaled and with positions (3.4, 3.5)."""
        if self.config.scale_embedding:
            embedded = embedded * self.config.d_model**0.5
        positioned: Tensor = self.dropout(embedded + self.positions(0, embedded.shape[1]))
        return positioned

    def parameter_count(self) -> int:
        """Return the number of trained numbers, a shared matrix counted once."""
        return sum(parameter.numel() for parameter in self.parameters())
