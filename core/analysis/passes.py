"""Recorded passes over many pairs of sentences, teacher-forced and batched.

Legend: B pairs of a batch, S source, T target, Q queries, K keys, H heads, D d_model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.config import ModelConfig
from core.decoding.batching import batches_by_length, padded
from core.decoding.search import source_batch
from core.heads import AttentionKind, Head
from core.model.attention import attention_weights
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

BATCH_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of sentences and its ids, without specials."""

    source: str
    target: str
    source_ids: Sequence[int]
    target_ids: Sequence[int]

    @property
    def length(self) -> int:
        """The number of tokens of the longer side, including the end or begin token."""
        return 1 + max(len(self.source_ids), len(self.target_ids))


def encode_pairs(tokenizer: Tokenizer, texts: Sequence[tuple[str, str]]) -> list[Pair]:
    sources = tokenizer.encode_all(source for source, _ in texts)
    targets = tokenizer.target.encode_all(target for _, target in texts)
    return [
        Pair(source, target, source_ids, target_ids)
        for (source, target), source_ids, target_ids in zip(texts, sources, targets, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """What the model did on one batch, tokens as in a ``Trace`` of each pair.

    Attributes:
        indices: which of the pairs, in the order of the rows.
        source: [B, S], each with its end token.
        fed: [B, T], what the decoder was fed: the begin token, then the target.
        source_lengths, target_lengths: [B], of the real tokens.
        hidden: [B, T, D], from which the model predicts what follows each token that it was fed.
    """

    config: ModelConfig
    indices: Sequence[int]
    source: Tensor
    fed: Tensor
    source_lengths: Tensor
    target_lengths: Tensor
    recording: Recording
    hidden: Tensor

    def layers(self, kind: AttentionKind) -> int:
        return len(self._recorded(kind))

    def heads(self, kind: AttentionKind) -> tuple[Head, ...]:
        """The heads of all layers, in the order of their maps."""
        return tuple(
            Head(kind, layer, head)
            for layer in range(self.layers(kind))
            for head in self.config.kept_heads(kind, layer)
        )

    def queries(self, kind: AttentionKind) -> Tensor:
        """The ids of the queries, [B, Q]."""
        return self.source if kind is AttentionKind.ENCODER_SELF else self.fed

    def keys(self, kind: AttentionKind) -> Tensor:
        """The ids of the keys, [B, K]."""
        return self.fed if kind is AttentionKind.DECODER_SELF else self.source

    def query_lengths(self, kind: AttentionKind) -> Tensor:
        """The number of real queries of each pair, [B]."""
        return self.source_lengths if kind is AttentionKind.ENCODER_SELF else self.target_lengths

    def key_lengths(self, kind: AttentionKind) -> Tensor:
        """The number of real keys of each pair, [B]."""
        return self.target_lengths if kind is AttentionKind.DECODER_SELF else self.source_lengths

    def allowed(self, kind: AttentionKind) -> Tensor:
        """Return which real keys the mask lets each real query attend to, [B, Q, K]."""
        queries, keys = self.queries(kind).shape[1], self.keys(kind).shape[1]
        real_queries = _real(self.query_lengths(kind), queries)
        allowed = real_queries[:, :, None] & _real(self.key_lengths(kind), keys)[:, None, :]
        masked = kind is AttentionKind.DECODER_SELF and self.config.decoder_mask
        return allowed.tril() if masked else allowed

    def weights(self, kind: AttentionKind, layer: int) -> Tensor:
        """Return the weights [B, H, Q, K]; rows of real queries add up to 1, all other cells are
        0."""
        recorded = self._recorded(kind)[layer]
        return attention_weights(recorded.query, recorded.key, self.allowed(kind)[:, None])

    def _recorded(self, kind: AttentionKind) -> list[Projections]:
        return {
            AttentionKind.ENCODER_SELF: self.recording.encoder_self,
            AttentionKind.DECODER_SELF: self.recording.decoder_self,
            AttentionKind.CROSS: self.recording.cross,
        }[kind]


def recorded_passes(
    model: Transformer, pairs: Sequence[Pair], *, batch_tokens: int = BATCH_TOKENS
) -> Iterator[Pass]:
    """Every pair once, those of similar length together.

    Args:
        model: in evaluation mode.
        batch_tokens: pairs × longest side in a batch, padding included.
    """
    lengths = [pair.length for pair in pairs]
    for batch in batches_by_length(range(len(pairs)), lengths, batch_tokens):
        yield recorded_pass(model, [pairs[index] for index in batch], batch)


@torch.inference_mode()
def recorded_pass(model: Transformer, pairs: Sequence[Pair], indices: Sequence[int]) -> Pass:
    """Record all pairs in one batch."""
    config = model.config
    source = source_batch(model, [pair.source_ids for pair in pairs])
    fed = padded([[config.bos_id, *pair.target_ids] for pair in pairs], config.pad_id, model.device)
    recording = Recording()
    hidden = model.decode(fed, model.encode(source, recording), source, recording)
    return Pass(
        config=config,
        indices=indices,
        source=source,
        fed=fed,
        source_lengths=_lengths((pair.source_ids for pair in pairs), model.device),
        target_lengths=_lengths((pair.target_ids for pair in pairs), model.device),
        recording=recording,
        hidden=hidden,
    )


def _lengths(ids: Iterable[Sequence[int]], device: torch.device) -> Tensor:
    """With the end or begin token, [B]."""
    return torch.tensor([1 + len(one) for one in ids], device=device)


def _real(lengths: Tensor, width: int) -> Tensor:
    """[B] → [B, width]"""
    return torch.arange(width, device=lengths.device) < lengths[:, None]
