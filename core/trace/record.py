"""Watching a model translate one text.

Legend: S source, T target, D d_model, H heads. One text at a time, so B = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.scoring import token_log_probabilities
from core.decoding.search import proceed, search_memory, source_batch
from core.errors import UserError
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
    source_tokens = tokenizer.tokens(text)
    if not source_tokens:
        raise UserError("There is no visible character to translate; type a sentence.")
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
    end = tokenizer.token(tokenizer.eos_id)
    recording = Recording()
    source = source_batch(model, [[token.id for token in source_tokens]])  # [1, S]
    memory = model.encode(source, recording)  # [1, S, D]
    if target is None:
        best = search_memory(model, memory, source, search, check)[0][0]
        translation = tokenizer.decode(best.ids)
        predicted = [tokenizer.token(id) for id in best.ids]
    else:
        translation = target
        predicted = tokenizer.tokens(target)
    begin = tokenizer.token(tokenizer.bos_id)
    fed = torch.tensor([[begin.id, *(token.id for token in predicted)]], device=model.device)
    hidden = model.decode(fed, memory, source, recording)  # [1, T, D]
    predicted_ids = [*(token.id for token in predicted), end.id]
    return Trace(
        source_tokens=(*source_tokens, end),
        target_tokens=(begin, *predicted),
        predicted_tokens=(*predicted, end),
        log_probabilities=_floats(token_log_probabilities(model, hidden[0], predicted_ids)),
        attention=_attention(recording),
        text=text,
        translation=translation,
    )


def _attention(recording: Recording) -> dict[AttentionKind, Attention]:
    return {
        AttentionKind.ENCODER_SELF: _computed(recording.encoder_self, causal=False),
        AttentionKind.DECODER_SELF: _computed(recording.decoder_self, causal=True),
        AttentionKind.CROSS: _computed(recording.cross, causal=False),
    }


def _computed(layers: Sequence[Projections], *, causal: bool) -> ComputedAttention:
    return ComputedAttention(
        tuple(
            LayerProjections(_floats(one.query[0]), _floats(one.key[0]), _floats(one.value[0]))
            for one in layers
        ),
        causal=causal,
    )


def _floats(values: Tensor) -> Floats:
    """float32 in memory of its own, contiguous."""
    array: Floats = values.float().cpu().contiguous().numpy()
    return array
