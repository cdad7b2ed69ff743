"""Watching a model translate one text.

Legend: S source, T target, D d_model, H heads. One text at a time, so B = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.draft import greedy_from, known_tokens
from core.decoding.hypothesis import Hypothesis
from core.decoding.scoring import token_log_probabilities
from core.decoding.search import proceed, require_usable, search_memory, source_batch
from core.errors import UserError
from core.model.gates import gates_of
from core.model.recording import Projections, Recording
from core.model.switched import switches_of
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

_LONG = 512  # tokens
_MOST_DRAFTS = 3  # a pass over one takes as long as some four decoding steps


@torch.inference_mode()
def trace_text(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    *,
    target: str | None = None,
    search: SearchConfig = GREEDY,
    draft: Sequence[int] = (),
    threads: int | None = None,
    check: Callable[[], None] = proceed,
) -> Trace:
    """Translate a text, then feed the translation to the decoder once more and record that pass.

    So the attention is that of the very hypothesis that won, whatever the search had reordered on
    its way there, and a cached step and a whole pass give the same.

    Args:
        model: in evaluation mode.
        target: a translation to record instead of the model's own.
        draft: ids without specials that the translation probably begins with; the result is the
            same, but with greedy search it is found sooner if they are right.
        threads: for the passes over a long text, which gain from more than decoding steps do;
            None for as many as torch uses.
        check: called before every decoding step; what it raises ends the work.

    Raises:
        UserError: the text has no visible character, or is longer than the model's learned
            positions, or the model's weights are damaged.
    """
    source_tokens = _visible_tokens(tokenizer, text)
    return trace_tokens(
        model,
        tokenizer,
        source_tokens,
        text=text,
        target=target,
        search=search,
        draft=draft,
        threads=threads,
        check=check,
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
    draft: Sequence[int] = (),
    threads: int | None = None,
    check: Callable[[], None] = proceed,
) -> Trace:
    """Trace as ``trace_text`` does a text already cut into one or more tokens, in any order."""
    encoded = _encoded(model, source_tokens, threads)
    decoded = None
    if target is None:
        best, decoded = _translated(model, encoded, search, tuple(draft), check)
        translation = tokenizer.target.decode(best.ids)
        predicted = [tokenizer.target.token(id) for id in best.ids]
    else:
        translation = target
        predicted = tokenizer.target.tokens(target)
    predicted.append(tokenizer.target.token(tokenizer.target.eos_id))
    return _trace(model, tokenizer, encoded, predicted, text, translation, decoded)


def _translated(
    model: Transformer,
    encoded: _Encoded,
    search: SearchConfig,
    draft: tuple[int, ...],
    check: Callable[[], None],
) -> tuple[Hypothesis, _Decoded | None]:
    """The translation, and the decoder's pass over it if the draft was right."""
    memory, source = encoded.memory, encoded.source
    longest = search.longest_output(source.shape[1], model.config)
    draft = draft[: longest - 1]
    if not draft or search.beam > 1 or not model.masked:  # such a pass would see what follows
        return search_memory(model, memory, source, search, check)[0][0], None
    for number in range(1, _MOST_DRAFTS + 1):
        decoded = _decoded(model, encoded, [model.config.bos_id, *draft])
        known = known_tokens(model, decoded.hidden, draft, longest, search)
        ids, rest = known.ids, draft[len(known.ids) :]
        ended = model.config.eos_id in ids[-1:]
        if ended or len(ids) <= len(draft) / 2 or len(rest) < 2 or number == _MOST_DRAFTS:
            break
        check()
        draft = (*ids, *rest)  # with another word in one place, the rest may be right again
    best = greedy_from(model, memory, source, known, decoded.recording, longest, search, check)
    require_usable(best)
    return best, decoded if best.ids == draft else None


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
    return _trace(model, tokenizer, encoded, predicted, text, translation)


@dataclass(frozen=True, slots=True)
class _Encoded:
    """What the decoder and a search need of the source, and what was recorded of the encoder."""

    tokens: tuple[Token, ...]  # without the end token
    source: Tensor  # [1, S]
    memory: Tensor  # [1, S, D]
    recording: Recording
    threads: int | None  # for passes over a long text


def _visible_tokens(tokenizer: Tokenizer, text: str) -> list[Token]:
    tokens = tokenizer.tokens(text)
    if not tokens:
        raise UserError("There is no visible character to translate; enter a sentence.")
    return tokens


def _encoded(model: Transformer, tokens: Sequence[Token], threads: int | None = None) -> _Encoded:
    recording = Recording()
    source = source_batch(model, [[token.id for token in tokens]])
    with _threads(threads, len(tokens)):
        memory = model.encode(source, recording)
    return _Encoded(tuple(tokens), source, memory, recording, threads)


@dataclass(frozen=True, slots=True)
class _Decoded:
    """A pass of the decoder, and what was recorded of it alone."""

    hidden: Tensor  # [1, T, D]
    recording: Recording


def _decoded(model: Transformer, encoded: _Encoded, fed: Sequence[int]) -> _Decoded:
    recording = Recording()
    target_in = torch.tensor([fed], device=model.device)  # [1, T]
    with _threads(encoded.threads, len(fed)):
        hidden = model.decode(target_in, encoded.memory, encoded.source, recording)
    return _Decoded(hidden, recording)


@contextmanager
def _threads(threads: int | None, tokens: int) -> Iterator[None]:
    """Inside, torch uses so many threads if there are many tokens."""
    before = torch.get_num_threads()
    if threads is None or tokens < _LONG or threads == before:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _trace(
    model: Transformer,
    tokenizer: Tokenizer,
    encoded: _Encoded,
    predicted: Sequence[Token],
    text: str,
    translation: str,
    decoded: _Decoded | None = None,
) -> Trace:
    """``decoded``: the pass that is fed what comes before each of the ``predicted`` tokens, if it
    is there already."""
    _require_room(model, len(predicted))
    fed = (tokenizer.target.token(tokenizer.target.bos_id), *predicted[:-1])
    if decoded is None:
        decoded = _decoded(model, encoded, [token.id for token in fed])
    wanted = [token.id for token in predicted]
    return Trace(
        source_tokens=(*encoded.tokens, tokenizer.token(tokenizer.eos_id)),
        target_tokens=fed,
        predicted_tokens=tuple(predicted),
        log_probabilities=_floats(token_log_probabilities(model, decoded.hidden[0], wanted)),
        attention=_attention(model, encoded.recording, decoded.recording),
        text=text,
        translation=translation,
        gates=gates_of(model),
        switches=switches_of(model),
    )


def _require_room(model: Transformer, steps: int) -> None:
    config = model.config
    if config.positions == "learned" and steps > config.max_positions:
        raise UserError(
            f"This model has learned {config.max_positions} positions, but the translation has "
            f"{steps} tokens; use a shorter one."
        )


def _attention(
    model: Transformer, encoder: Recording, decoder: Recording
) -> dict[AttentionKind, Attention]:
    """Of each kind that has a head."""
    recorded = {
        AttentionKind.ENCODER_SELF: encoder.encoder_self,
        AttentionKind.DECODER_SELF: decoder.decoder_self,
        AttentionKind.CROSS: decoder.cross,
    }
    return {
        kind: _computed(model, kind, layers)
        for kind, layers in recorded.items()
        if any(one.query.shape[1] for one in layers)
    }


def _computed(
    model: Transformer, kind: AttentionKind, layers: Sequence[Projections]
) -> ComputedAttention:
    config = model.config
    kept = tuple(config.kept_heads(kind, layer) for layer in range(len(layers)))
    heads = config.heads(kind)
    return ComputedAttention(
        tuple(
            LayerProjections(
                *(_numbered(each[0], of, heads) for each in (one.query, one.key, one.value))
            )
            for one, of in zip(layers, kept, strict=True)
        ),
        causal=kind is AttentionKind.DECODER_SELF and model.masked,
        kept=kept if config.pruned_heads else None,
        scaling=model.scaling,
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
