"""Watching the residual stream: one more pass over the tokens of a trace.

Nothing is recorded unless this is called: forward hooks are put on the model for the pass and taken
off after it. Legend: n tokens, P recorded positions, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from core.decoding.search import proceed
from core.errors import UserError
from core.model.layers import DecoderLayer, EncoderLayer, Residual
from core.model.product import Linear
from core.model.transformer import Transformer
from core.text.tokens import Token
from core.trace.states import StackStates, States, Sublayer, SublayerState
from core.trace.trace import Floats, Trace


@torch.inference_mode()
def record_states(
    model: Transformer,
    trace: Trace,
    *,
    source: Sequence[int] | None = None,
    target: Sequence[int] | None = None,
    check: Callable[[], None] = proceed,
) -> States:
    """Run the model over the trace's own tokens and keep its states, O(P·D) for each sub-layer.

    Args:
        model: the one that made the trace, in evaluation mode, gated alike.
        source, target: the positions to record on each side; None for all of them.
        check: called before every sub-layer; what it raises ends the work.

    Raises:
        UserError: the trace does not come from a model.
    """
    if not trace.has_ids:
        raise UserError(
            "This trace contains only weights; states need the model that computed them."
        )
    source_ids, target_ids = (
        torch.tensor([[token.id for token in tokens]], device=model.device)
        for tokens in (trace.source_tokens, trace.target_tokens)
    )
    rows = _rows(trace.source_tokens, source), _rows(trace.target_tokens, target)
    encoder, decoder = list(model.encoder_layers()), list(model.decoder_layers())
    with (
        _watched(encoder, rows[0], check) as seen,
        _watched(decoder, rows[1], check) as seen_by_decoder,
    ):
        memory = model.encode(source_ids)
        hidden = model.decode(target_ids, memory, source_ids)
    embedded = model.source_embedding(source_ids), model.target_embedding(target_ids)
    if model.config.decoder_start == "zero":
        embedded[1][:, 0] = 0
    scale = model.config.d_model**0.5 if model.config.scale_embedding else 1.0
    return States(
        encoder=_stack(rows[0], embedded[0] * scale, encoder, seen, memory),
        decoder=_stack(rows[1], embedded[1] * scale, decoder, seen_by_decoder, hidden),
    )


def _rows(tokens: Sequence[Token], chosen: Sequence[int] | None) -> list[int]:
    return list(range(len(tokens))) if chosen is None else list(chosen)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What went through the parts of a stack, each [P, …] by its module."""

    before: dict[nn.Module, Tensor] = field(default_factory=dict)  # into a residual connection
    normed: dict[nn.Module, Tensor] = field(default_factory=dict)  # out of a norm
    hidden: dict[nn.Module, Tensor] = field(default_factory=dict)  # into a last matrix
    added: dict[nn.Module, Tensor] = field(default_factory=dict)  # out of a last matrix


@contextmanager
def _watched(
    layers: Sequence[EncoderLayer | DecoderLayer], rows: Sequence[int], check: Callable[[], None]
) -> Iterator[_Seen]:
    """What goes through these layers during the pass inside, at these rows."""
    seen = _Seen()
    index = torch.tensor(rows, dtype=torch.long)

    def at_rows(x: Tensor) -> Tensor:
        return x.flatten(0, -2)[index.to(x.device)]  # B = 1

    def keep_before(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        check()
        seen.before[module] = at_rows(inputs[0])

    def keep_normed(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        seen.normed[module] = at_rows(output)

    def keep_added(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        seen.hidden[module], seen.added[module] = at_rows(inputs[0]), at_rows(output)

    hooks = []
    for layer in layers:
        for _, residual, norm, last in sublayers(layer):
            hooks += [
                residual.register_forward_pre_hook(keep_before),
                norm.register_forward_hook(keep_normed),
                last.register_forward_hook(keep_added),
            ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def sublayers(
    layer: EncoderLayer | DecoderLayer,
) -> Iterator[tuple[Sublayer, Residual, nn.LayerNorm, Linear]]:
    """Yield each sub-layer of a layer with its residual connection, its norm and its last
    matrix."""
    own = layer.self_attention_residual
    yield Sublayer.SELF_ATTENTION, own, own.norm, layer.self_attention.output
    if isinstance(layer, DecoderLayer):
        cross = layer.cross_attention_residual
        yield Sublayer.CROSS_ATTENTION, cross, cross.norm, layer.cross_attention.output
    network = layer.feed_forward_residual
    yield Sublayer.FEED_FORWARD, network, network.norm, layer.feed_forward.outer


def _stack(
    rows: Sequence[int],
    embedded: Tensor,
    layers: Sequence[EncoderLayer | DecoderLayer],
    seen: _Seen,
    output: Tensor,
) -> StackStates:
    states = tuple(tuple(_states(layer, seen)) for layer in layers)
    return StackStates(
        positions=tuple(rows),
        embedded=_floats(embedded[0, rows]),
        positioned=states[0][0].before,
        layers=states,
        output=_floats(output[0, rows]),
    )


def _states(layer: EncoderLayer | DecoderLayer, seen: _Seen) -> Iterator[SublayerState]:
    for sublayer, residual, norm, last in sublayers(layer):
        yield SublayerState(
            sublayer=sublayer,
            pre_norm=residual.pre_norm,
            before=_floats(seen.before[residual]),
            added=_floats(seen.added[last]),
            normed=_floats(seen.normed[norm]),
            hidden=_floats(seen.hidden[last]),
        )


def _floats(values: Tensor) -> Floats:
    array: Floats = values.float().cpu().contiguous().numpy()
    return array
