"""Watching a model translate one text.

Legend: S source, T target, D d_model, H heads. One text at a time, so B = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.config import ModelConfig
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.scoring import token_log_probabilities
from core.decoding.search import proceed, search_memory, source_batch
from core.errors import UserError
from core.model.gates import gates_of
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.text.tokens import Token
from core.trace.trace import (
    Attention,
    AttentionKind,
    ComputedAttention,
    Floats,
    LayerProjections,
    Trace,
)


@torch.inference_mode()
def trace_text(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    *,
    target: str | None = None,
    search: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> Trace:
    """Translate a text, then feed the translation to the decoder once more and record that pass.

    So the attention is that of the very hypothesis that won, whatever the search had reordered on
    its way there, and a cached step and a whole pass give the same.

    Args:
        model: in evaluation mode.
        target: a translation to record instead of the model's own.
        check: called before every decoding step; what it raises ends the work.

    Raises:
        UserError: the text has no visible character, or is longer than the model's learned
            positions, or the model's weights are damaged.
    """
    source_tokens = _visible_tokens(tokenizer, text)
    return trace_tokens(
        model, tokenizer, source_tokens, text=text, target=target, search=search, check=check
    )


@torch.inference_mode()
def trace_tokens(
    model: Transformer,
    tokenizer: Tokenizer,
    source_tokens: Sequence[Token],
    *,
    text: str,
    target: str | None = None,
    search: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> Trace:
    """As ``trace_text``, of a text already cut into one or more tokens, in any order."""
    encoded = _encoded(model, source_tokens)
    if target is None:
        best = search_memory(model, encoded.memory, encoded.source, search, check)[0][0]
        translation = tokenizer.target.decode(best.ids)
        predicted = [tokenizer.target.token(id) for id in best.ids]
    else:
        translation = target
        predicted = tokenizer.target.tokens(target)
    predicted.append(tokenizer.target.token(tokenizer.target.eos_id))
    return _recorded(model, tokenizer, encoded, predicted, text=text, translation=translation)


@torch.inference_mode()
def trace_hypothesis(
    model: Transformer, tokenizer: Tokenizer, text: str, ids: Sequence[int]
) -> Trace:
    """Record the pass over one hypothesis: the decoder rows that produced its tokens, one each.

    Args:
        model: in evaluation mode.
        ids: at least one token; the end token comes last where the hypothesis is finished.

    Raises:
        UserError: as ``trace_text``, or the hypothesis is longer than the learned positions.
    """
    encoded = _encoded(model, _visible_tokens(tokenizer, text))
    predicted = [tokenizer.target.token(id) for id in ids]
    translation = tokenizer.target.decode(ids)
    return _recorded(model, tokenizer, encoded, predicted, text=text, translation=translation)


@dataclass(frozen=True, slots=True)
class _Encoded:
    """What the decoder and a search need of the source, and the recording that began with it."""

    tokens: tuple[Token, ...]  # without the end token
    source: Tensor  # [1, S]
    memory: Tensor  # [1, S, D]
    recording: Recording


def _visible_tokens(tokenizer: Tokenizer, text: str) -> list[Token]:
    tokens = tokenizer.tokens(text)
    if not tokens:
        raise UserError("There is no visible character to translate; type a sentence.")
    return tokens


def _encoded(model: Transformer, tokens: Sequence[Token]) -> _Encoded:
    recording = Recording()
    source = source_batch(model, [[token.id for token in tokens]])
    return _Encoded(tuple(tokens), source, model.encode(source, recording), recording)


def _recorded(
    model: Transformer,
    tokenizer: Tokenizer,
    encoded: _Encoded,
    predicted: Sequence[Token],
    *,
    text: str,
    translation: str,
) -> Trace:
    """Feed the decoder what comes before each of the ``predicted`` tokens."""
    _require_room(model, len(predicted))
    fed = (tokenizer.target.token(tokenizer.target.bos_id), *predicted[:-1])
    target_in = torch.tensor([[token.id for token in fed]], device=model.device)  # [1, T]
    recording = encoded.recording
    hidden = model.decode(target_in, encoded.memory, encoded.source, recording)  # [1, T, D]
    wanted = [token.id for token in predicted]
    return Trace(
        source_tokens=(*encoded.tokens, tokenizer.token(tokenizer.eos_id)),
        target_tokens=fed,
        predicted_tokens=tuple(predicted),
        log_probabilities=_floats(token_log_probabilities(model, hidden[0], wanted)),
        attention=_attention(model, recording),
        text=text,
        translation=translation,
        gates=gates_of(model),
    )


def _require_room(model: Transformer, steps: int) -> None:
    config = model.config
    if config.positions == "learned" and steps > config.max_positions:
        raise UserError(
            f"This model learned {config.max_positions} positions and the translation has {steps} "
            "tokens; give a shorter one."
        )


def _attention(model: Transformer, recording: Recording) -> dict[AttentionKind, Attention]:
    """Of each kind that has a head."""
    recorded = {
        AttentionKind.ENCODER_SELF: recording.encoder_self,
        AttentionKind.DECODER_SELF: recording.decoder_self,
        AttentionKind.CROSS: recording.cross,
    }
    return {
        kind: _computed(model.config, kind, layers)
        for kind, layers in recorded.items()
        if any(one.query.shape[1] for one in layers)
    }


def _computed(
    config: ModelConfig, kind: AttentionKind, layers: Sequence[Projections]
) -> ComputedAttention:
    kept = tuple(config.kept_heads(kind, layer) for layer in range(len(layers)))
    heads = config.heads(kind)
    return ComputedAttention(
        tuple(
            LayerProjections(
                *(_numbered(each[0], of, heads) for each in (one.query, one.key, one.value))
            )
            for one, of in zip(layers, kept, strict=True)
        ),
        causal=kind is AttentionKind.DECODER_SELF,
        kept=kept if config.pruned_heads else None,
    )


def _numbered(values: Tensor, kept: Sequence[int], heads: int) -> Floats:
    """One row for each head of the layer, by its number, from those of the kept ones."""
    array = _floats(values)
    if len(kept) == heads:
        return array
    rows = np.full((heads, *array.shape[1:]), np.nan, np.float32)
    rows[list(kept)] = array
    return rows


def _floats(values: Tensor) -> Floats:
    """float32 in memory of its own, contiguous."""
    array: Floats = values.float().cpu().contiguous().numpy()
    return array
