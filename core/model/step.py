"""One more position of the decoder, with keys and values of those before it in a cache.

What a decoder layer computes, without the modules around it: a step is so small that asking for an
operation takes about as long as the operation. So parts are looked up once, rows are a matrix from
one end to the other, and with one row of each sentence splitting into heads is a mere view.

Legend: B sentences, R hypotheses of each, N = B·R, H heads, D d_model, V vocabulary, d_k and d_v
head widths.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.attention import CrossAttention, SelfAttention, attend
from core.model.cache import DecoderCache, LayerCache
from core.model.layers import DecoderLayer
from core.model.product import Linear
from core.model.recording import Projections, Recording

if TYPE_CHECKING:
    from core.model.transformer import Transformer


def direct(module: nn.Module, rows: int = 1) -> Callable[[Tensor], Tensor]:
    """What calling the module computes, its parameters looked up now, for about so many rows."""
    if type(module) is Linear:
        return module.bound(rows)
    if type(module) is nn.LayerNorm:
        shape, weight, bias, epsilon = (
            module.normalized_shape,
            module.weight,
            module.bias,
            module.eps,
        )
        return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)
    forward: Callable[[Tensor], Tensor] = module.forward
    return forward


class DecoderStep:
    """The decoder at a position, in evaluation mode.

    It is good for as long as the model's parameters stay the same tensors.
    """

    def __init__(self, model: Transformer, sentences: int, rows_per_sentence: int) -> None:
        """``sentences``: B at first; there may be fewer later."""
        config = model.config
        self._embedding = model.target_embedding.weight
        self._scale = config.d_model**0.5 if config.scale_embedding else 1.0
        self._begins_with_zeros = config.decoder_start == "zero"
        self._positions = model.positions.forward
        self._layers = [
            LayerStep(layer, sentences, rows_per_sentence) for layer in model.decoder_layers()
        ]
        self._norm = direct(model.decoder_norm)
        self._logits = model.bound_logits(sentences * rows_per_sentence)

    def __call__(self, tokens: Tensor, cache: DecoderCache, recording: Recording | None) -> Tensor:
        """tokens [N] → logits [N, V]."""
        at = cache.length
        x = torch.embedding(self._embedding, tokens)  # [N, D]
        if at == 0 and self._begins_with_zeros:
            x.zero_()
        x = torch.add(self._positions(at, at + 1), x, alpha=self._scale)
        for layer, layer_cache in zip(self._layers, cache.layers(), strict=True):
            x = layer(x, layer_cache, recording)
        cache.length += 1
        return self._logits(self._norm(x))


class LayerStep:
    """A decoder layer at a position.

    The hypotheses of a sentence are queries of one sequence, so that the keys and values of the
    source are never copied for them.
    """

    def __init__(self, layer: DecoderLayer, sentences: int, rows_per_sentence: int) -> None:
        """Prepare a step for ``sentences``, B at first; there may be fewer later."""
        rows = sentences * rows_per_sentence
        self._rows = rows_per_sentence
        self._own = layer.self_attention
        self._query_key_value = direct(self._own.query_key_value, rows)
        self._own_output = direct(self._own.output, rows)
        self._cross = layer.cross_attention
        self._query = direct(self._cross.query, rows)
        self._cross_output = direct(self._cross.output, rows)
        self._inner = direct(layer.feed_forward.inner, rows)
        self._activation = _in_place(layer.feed_forward.activation)
        self._outer = direct(layer.feed_forward.outer, rows)
        self._pre_norm = layer.self_attention_residual.pre_norm
        self._own_norm = direct(layer.self_attention_residual.norm)
        self._cross_norm = direct(layer.cross_attention_residual.norm)
        self._feed_forward_norm = direct(layer.feed_forward_residual.norm)

    def __call__(self, x: Tensor, cache: LayerCache, recording: Recording | None) -> Tensor:
        """x [N, D] → [N, D]."""
        if self._pre_norm:
            x = self._attend_to_past(self._own_norm(x), cache, recording).add_(x)
            x = self._attend_to_source(self._cross_norm(x), cache, recording).add_(x)
            return self._feed_forward(self._feed_forward_norm(x)).add_(x)
        x = self._own_norm(self._attend_to_past(x, cache, recording).add_(x))
        x = self._cross_norm(self._attend_to_source(x, cache, recording).add_(x))
        return self._feed_forward_norm(self._feed_forward(x).add_(x))

    def _attend_to_past(self, x: Tensor, cache: LayerCache, recording: Recording | None) -> Tensor:
        own = self._own
        query, key, value = self._query_key_value(x).split_with_sizes(own.widths, dim=-1)
        query, key = self._split(query, own, own.d_k), self._split(key, own, own.d_k)
        if own.rotary is not None:
            query, key = own.rotary.at(query, cache.position), own.rotary.at(key, cache.position)
        query = own.gated_query(query)
        cache.new_keys.copy_(key)
        cache.new_values.copy_(self._split(value, own, own.d_v))
        if recording is not None:
            recording.decoder_self.append(Projections(query, cache.keys, cache.values))
        heads = attend(query, cache.keys, cache.values, cache.past, scale=own.scale)
        return self._own_output(self._concatenate(heads, own))

    def _attend_to_source(
        self, x: Tensor, cache: LayerCache, recording: Recording | None
    ) -> Tensor:
        cross = self._cross
        query = cross.gated_query(self._split(self._query(x), cross, cross.d_k))
        if recording is not None:
            recording.cross.append(Projections(query, cache.cross_keys, cache.cross_values))
        heads = attend(
            query, cache.cross_keys, cache.cross_values, cache.source_allowed, scale=cross.scale
        )
        return self._cross_output(self._concatenate(heads, cross))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self._outer(self._activation(self._inner(x)))

    def _split(self, x: Tensor, block: SelfAttention | CrossAttention, width: int) -> Tensor:
        """[N, H·d] → [B, H, R, d], a view; ``width`` is d."""
        rows, heads = x.shape[0], len(block.heads)
        if self._rows == 1:
            return x.view(rows, heads, 1, width)
        return x.view(rows // self._rows, self._rows, heads, width).transpose(1, 2)

    def _concatenate(self, heads: Tensor, block: SelfAttention | CrossAttention) -> Tensor:
        """[B, H, R, d_v], each head times its gate → [N, H·d_v]."""
        if block.gate is not None:
            heads = heads * block.gate
        rows = heads.shape[0] * self._rows
        if self._rows > 1:
            heads = heads.transpose(1, 2)
        return heads.reshape(rows, len(block.heads) * block.d_v)


def _in_place(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The same, overwriting its input where that saves memory."""
    return partial(F.silu, inplace=True) if activation is F.silu else activation
