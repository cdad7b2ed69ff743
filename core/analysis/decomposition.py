"""A model's attention taken into what each key contributes, in float64.

An attention block with its residual and norm is linear in what the keys send, once the weights and
the standard deviation of the norm are given:

    y_i = Σ_j T_i(x_j) + what the biases add
    T_i(x_j) = (Σ_h A_h[i, j] f_h(x_j) + [i = j] x_i) (I − 11ᵀ/D) diag(γ) / σ_i
    f_h(x_j) = v_h,j W^O_h, scaled by the head's gate

(Ferrando et al. 2022, arXiv 2203.04212); before a pre-norm block only its input is normalised, so
that the factor after the sum falls away. The parts are added up again and must give the model's
real output.

Legend: S source, T target, Q queries, K keys, H heads, D d_model, R rows of a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.analysis.composition import DecoderMix, compose
from core.analysis.contributions import Contributions
from core.decoding.search import proceed
from core.errors import UserError
from core.heads import AttentionKind
from core.model.attention import CrossAttention, SelfAttention, attention_weights
from core.model.layers import EncoderLayer, Residual
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer
from core.text.tokens import Token
from core.trace.trace import Floats, Trace

MOST_TOKENS = 256
"""On either side: the parts are n·n vectors of width D for each block."""

TOLERANCE = 1e-5
"""By how much the parts may miss a block's output, over max(1, its largest number)."""

_CHUNK = 1 << 18  # numbers that are held at a time, few enough for a processor's cache


class DecompositionError(Exception):
    """The parts do not add up to the output: the model computes something else than is said."""


@torch.inference_mode()
def decompose(
    model: Transformer, trace: Trace, check: Callable[[], None] = proceed
) -> Contributions:
    """Run the model over the trace's own tokens and take each attention block apart.

    Args:
        model: the one that made the trace, in evaluation mode, gated and switched alike.
        check: called before every block and chunk; what it raises ends the work.

    Raises:
        UserError: the trace does not come from a model, or is longer than ``MOST_TOKENS``.
        DecompositionError: a block's parts do not add up to its output within ``TOLERANCE``.
    """
    require_decomposable(trace)
    parts = {
        kind: [_taken_apart(block, kind, check, masked=model.masked) for block in blocks]
        for kind, blocks in _passed(model, trace).items()
    }
    decoder = [
        DecoderMix(own.shares, cross.shares) for own, cross in zip(parts[D], parts[C], strict=True)
    ]
    return Contributions(
        trace=trace,
        lengths={kind: tuple(part.lengths for part in parts[kind]) for kind in parts},
        layer_norms={kind: tuple(part.norms for part in parts[kind]) for kind in parts},
        alti=compose([part.shares for part in parts[E]], decoder),
        error=max(part.error for kind in parts for part in parts[kind]),
    )


def require_decomposable(trace: Trace) -> None:
    """Raise UserError where ``decompose`` would, without a model."""
    if not trace.has_ids:
        raise UserError(
            "This trace contains only weights; norms need the model that computed them."
        )
    longest = max(len(trace.source_tokens), len(trace.target_tokens))
    if longest > MOST_TOKENS:
        raise UserError(
            f"Norms are computed for up to {MOST_TOKENS} tokens per side, but this text has "
            f"{longest:,}; shorten it, or show the raw weights."
        )


E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """An attention block with its residual, and what went in and out of it."""

    attention: SelfAttention | CrossAttention
    residual: Residual
    projections: Projections  # B = 1
    x: Tensor  # [Q, D], the residual stream before it
    y: Tensor  # [Q, D], … and after it


class _Parts(NamedTuple):
    lengths: Floats  # [H, K]
    norms: Floats  # [Q, K]
    shares: NDArray[np.float64]  # [Q, K], or [Q, K + 1] with the residual last
    error: float


def _passed(model: Transformer, trace: Trace) -> dict[AttentionKind, list[_Block]]:
    """One recorded pass over the trace's tokens."""
    residuals: dict[AttentionKind, list[Residual]] = {
        E: [cast(EncoderLayer, layer).self_attention_residual for layer in model.encoder],
        D: [layer.self_attention_residual for layer in model.decoder_layers()],
        C: [layer.cross_attention_residual for layer in model.decoder_layers()],
    }
    recording = Recording()
    with _watched([each for kind in residuals for each in residuals[kind]]) as streams:
        source, target = (
            _ids(model, tokens) for tokens in (trace.source_tokens, trace.target_tokens)
        )
        model.decode(target, model.encode(source, recording), source, recording)
    recorded = {E: recording.encoder_self, D: recording.decoder_self, C: recording.cross}
    return {
        kind: [
            _Block(attention, residual, projections, *streams[residual])
            for attention, residual, projections in zip(
                model.attention_blocks(kind), residuals[kind], recorded[kind], strict=True
            )
        ]
        for kind in AttentionKind
    }


def _ids(model: Transformer, tokens: Sequence[Token]) -> Tensor:
    return torch.tensor([[token.id for token in tokens]], device=model.device)


@contextmanager
def _watched(
    residuals: Sequence[Residual],
) -> Iterator[dict[nn.Module, tuple[Tensor, Tensor]]]:
    """What goes in and out of each during the passes inside, without the batch."""
    seen: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def keep(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        seen[module] = inputs[0][0], output[0]

    hooks = [residual.register_forward_hook(keep) for residual in residuals]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _taken_apart(
    block: _Block, kind: AttentionKind, check: Callable[[], None], *, masked: bool
) -> _Parts:
    query, key, value = (
        each[0].double()
        for each in (block.projections.query, block.projections.key, block.projections.value)
    )
    x, y = block.x.double(), block.y.double()
    rows, keys, width = len(x), key.shape[1], x.shape[1]
    allowed = torch.ones(rows, keys, dtype=torch.bool, device=x.device)
    allowed = allowed.tril() if kind is D and masked else allowed
    weights = attention_weights(query, key, allowed, scale=block.attention.scale)  # [H, Q, K]
    sent = _sent(block.attention, value)  # [H, K, D]
    bias = block.attention.output.bias
    constant = torch.zeros_like(x[0]) if bias is None else bias.double()
    by_key = weights.permute(2, 1, 0), sent.permute(1, 0, 2)  # [K, Q, H], [K, H, D]
    norms, shares, errors = [], [], []
    step = max(1, _CHUNK // (keys * width))
    for start in range(0, rows, step):
        check()
        chunk = slice(start, min(start + step, rows))
        moved = torch.bmm(by_key[0][:, chunk], by_key[1]).transpose(0, 1)  # [R, K, D]
        norms.append(moved.norm(dim=-1))
        parts, rest = _normed(block.residual, moved, x[chunk], constant, chunk, kind is C)
        real = y[chunk]
        errors.append((parts.sum(dim=1) + rest - real).abs().max())
        shares.append(_shares(parts, real))
    error = float(torch.stack(errors).max() / y.abs().max().clamp(min=1))
    if not error <= TOLERANCE:
        raise DecompositionError(f"The parts of a block miss its output by {error:.1e}.")
    return _Parts(
        lengths=_single(sent.norm(dim=-1)),
        norms=_single(torch.cat(norms)),
        shares=torch.cat(shares).cpu().numpy(),
        error=error,
    )


def _sent(attention: SelfAttention | CrossAttention, value: Tensor) -> Tensor:
    """f_h(x_j) of each head: value [H, K, d_v] → [H, K, D]."""
    joined = attention.output.weight.double()  # [D, H·d_v]
    by_head = joined.view(len(joined), *value.shape[::2]).permute(1, 2, 0)  # [H, d_v, D]
    sent = value @ by_head
    return sent if attention.gate is None else sent * attention.gate.double()


def _normed(
    residual: Residual,
    moved: Tensor,
    x: Tensor,
    bias: Tensor,
    chunk: slice,
    crossed: bool,
) -> tuple[Tensor, Tensor]:
    """The parts T of the block's output, made of `moved`, [R, K, D], or [R, K + 1, D] with the
    decoder's own stream last where `crossed`; and what the biases add, [R, D] or [D]."""
    if crossed:
        parts = torch.cat([moved, x[:, None]], dim=1)
    else:
        parts = moved
        rows = torch.arange(len(x), device=x.device)
        parts[rows, rows + chunk.start] += x
    if residual.pre_norm:
        return parts, bias
    norm = residual.norm
    before = parts.sum(dim=1) + bias  # [R, D]
    sigma = (before.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()  # [R, 1]
    scale = norm.weight.double() / sigma  # [R, D]
    parts.sub_(parts.mean(dim=-1, keepdim=True)).mul_(scale[:, None])
    return parts, (bias - bias.mean()) * scale + norm.bias.double()


def _shares(parts: Tensor, output: Tensor) -> Tensor:
    """max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), each row divided by its sum: [R, K, D] → [R, K].

    Where no part comes nearer to the output than nothing does, the row is shared by length.
    """
    size = output.norm(p=1, dim=-1, keepdim=True)
    near = (size - (parts - output[:, None]).norm(p=1, dim=-1)).clamp_(min=0)
    aimless = near.sum(dim=-1) == 0
    if aimless.any():
        near[aimless] = parts[aimless].norm(p=1, dim=-1)
    shares: Tensor = near / near.sum(dim=-1, keepdim=True)
    return shares


def _single(values: Tensor) -> Floats:
    array: Floats = values.float().cpu().numpy()
    return array
