"""One more position of the decoder, with keys and values of those before it in a cache.

What a decoder layer computes, without the modules around it: a step is so small that looking its
parts up, hundreds of times, would take a tenth to a quarter of its time. It looks them up once.

Legend: B sentences, R hypotheses of each, N = B·R, H heads, D d_model, d_k and d_v head widths.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from core.model.attention import attend
from core.model.cache import LayerCache
from core.model.layers import DecoderLayer
from core.model.product import Linear
from core.model.recording import Projections, Recording


def direct(module: nn.Module, rows: int = 1) -> Callable[[Tensor], Tensor]:
    """What calling the module computes, its parameters looked up now, for about so many rows."""
    if type(module) is Linear:
        return module.bound(rows)
    if type(module) is nn.LayerNorm:
        return partial(
            torch.layer_norm,
            normalized_shape=module.normalized_shape,
            weight=module.weight,
            bias=module.bias,
            eps=module.eps,
        )
    forward: Callable[[Tensor], Tensor] = module.forward
    return forward


class LayerStep:
    """A decoder layer in evaluation mode, for as long as its parameters stay the same tensors.

    The hypotheses of a sentence are queries of one sequence, so that the keys and values of the
    source are never copied for them.
    """

    def __init__(self, layer: DecoderLayer, rows: int) -> None:
        """``rows``: N that it will be fed at first."""
        self._own = layer.self_attention
        self._query_key_value = direct(self._own.query_key_value, rows)
        self._own_output = direct(self._own.output, rows)
        self._cross = layer.cross_attention
        self._query = direct(self._cross.query, rows)
        self._cross_output = direct(self._cross.output, rows)
        self._inner = direct(layer.feed_forward.inner, rows)
        self._activation = layer.feed_forward.activation
        self._outer = direct(layer.feed_forward.outer, rows)
        self._pre_norm = layer.self_attention_residual.pre_norm
        self._own_norm = direct(layer.self_attention_residual.norm)
        self._cross_norm = direct(layer.cross_attention_residual.norm)
        self._feed_forward_norm = direct(layer.feed_forward_residual.norm)

    def __call__(self, x: Tensor, cache: LayerCache, recording: Recording | None) -> Tensor:
        """x [B, R, D] → [B, R, D]."""
        if self._pre_norm:
            x = x + self._attend_to_past(self._own_norm(x), cache, recording)
            x = x + self._attend_to_source(self._cross_norm(x), cache, recording)
            return x + self._feed_forward(self._feed_forward_norm(x))
        x = self._own_norm(x + self._attend_to_past(x, cache, recording))
        x = self._cross_norm(x + self._attend_to_source(x, cache, recording))
        return self._feed_forward_norm(x + self._feed_forward(x))

    def _attend_to_past(self, x: Tensor, cache: LayerCache, recording: Recording | None) -> Tensor:
        own = self._own
        query, key, value = torch.split(self._query_key_value(x), own.widths, dim=-1)
        query = own.split(query, own.d_k)
        cache.new_keys.copy_(own.split(key, own.d_k))
        cache.new_values.copy_(own.split(value, own.d_v))
        if recording is not None:
            recording.decoder_self.append(Projections(query, cache.keys, cache.values))
        heads = attend(query, cache.keys, cache.values, cache.past)
        return self._own_output(own.concatenate(heads))

    def _attend_to_source(
        self, x: Tensor, cache: LayerCache, recording: Recording | None
    ) -> Tensor:
        query = self._cross.split(self._query(x), self._cross.d_k)
        if recording is not None:
            recording.cross.append(Projections(query, cache.cross_keys, cache.cross_values))
        heads = attend(query, cache.cross_keys, cache.cross_values, cache.source_allowed)
        return self._cross_output(self._cross.concatenate(heads))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self._outer(self._activation(self._inner(x)))
