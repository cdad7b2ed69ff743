"""A Transformer whose weights are written by hand, so that what each head does is known.

The model's vector has three parts: which position, which token, and which token comes next. The
first two are one-hot; heads compare them and leave them as they are. A single head of
cross-attention writes into the third, from which the output is read: row *t* copies the source
token at position *t*, so the model "translates" a text into itself, through that head alone.

Legend: P positions, V vocabulary, D = P + 2V.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TypeAlias

import torch
from torch import Tensor

from core.checkpoints.native import Checkpoint
from core.config import ModelConfig
from core.model.attention import CrossAttention, SelfAttention
from core.model.layers import DecoderLayer, EncoderLayer
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from core.trace.trace import AttentionKind, Head

WORDS = (
    *("the", "a", "and", "it", "was", "is", "not", "to", "of", "in"),
    *("dog", "street", "cat", "house", "tree", "garden", "child", "table", "window", "river"),
    *("old", "wide", "tired", "small", "green", "crossed", "saw", "heard", "because", "zebra"),
    *(".", ",", "?"),
)
"""From frequent to rare, punctuation apart; each is one piece."""

POSITIONS = 64
SHARPNESS = 16.0
_STRENGTH = 2.0  # of the output; the right token has nearly all of the probability


@dataclass(frozen=True, slots=True)
class Offset:
    """Query *i* looks at key *i* + ``k``, or evenly where there is none."""

    k: int


@dataclass(frozen=True, slots=True)
class On:
    """Every query looks at this piece."""

    piece: str


@dataclass(frozen=True, slots=True)
class Finds:
    """A query that is the first word of a pair looks at the second one; the others evenly."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Rarest:
    """Every query looks at the rarest word, the last in this order."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broad:
    """Every query looks everywhere alike."""


Habit: TypeAlias = Offset | On | Finds | Rarest | Broad

COPYING = Head(AttentionKind.CROSS, 0, 0)
HABITS: Mapping[AttentionKind, Sequence[Sequence[Habit]]] = {
    AttentionKind.ENCODER_SELF: (
        (Offset(-1), Offset(1), On("</s>"), Broad(), Finds((("it", "dog"),)), Rarest(WORDS[:-3])),
        (Offset(-2), Offset(0), On("."), Offset(2), Broad(), Broad()),
    ),
    AttentionKind.DECODER_SELF: (
        (Offset(-1), On("<s>"), Broad(), Offset(0)),
        (Offset(-2), Broad(), Broad(), Broad()),
    ),
    AttentionKind.CROSS: (
        (Offset(0), On("</s>"), Broad(), Finds((("it", "dog"),))),
        (Broad(), Broad(), Offset(1), On(".")),
    ),
}
"""What each head does, by kind, layer and head."""


def heads() -> Iterable[tuple[Head, Habit]]:
    for kind, layers in HABITS.items():
        for layer, habits in enumerate(layers):
            for head, habit in enumerate(habits):
                yield Head(kind, layer, head), habit


@cache
def planted_tokenizer() -> Tokenizer:
    """Each of ``WORDS`` is one piece, punctuation without a space before it."""
    words, marks = WORDS[:-3], WORDS[-3:]
    lines = [f"{first} {second}{mark}" for first, second in pairwise(words) for mark in marks]
    return train_tokenizer(lines * 4, 400)


def planted() -> Checkpoint:
    """A new copy of the model in evaluation mode, with its tokenizer."""
    tokenizer = planted_tokenizer()
    encoder, decoder = HABITS[AttentionKind.ENCODER_SELF], HABITS[AttentionKind.DECODER_SELF]
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=POSITIONS + 2 * tokenizer.vocab_size,
        encoder_layers=len(encoder),
        decoder_layers=len(decoder),
        encoder_heads=len(encoder[0]),
        decoder_heads=len(decoder[0]),
        encoder_d_ff=1,
        decoder_d_ff=1,
        d_k=POSITIONS,
        d_v=tokenizer.vocab_size,
        positions="learned",
        max_positions=POSITIONS,
        shared_embeddings="none",
        scale_embedding=False,
        dropout=0.0,
    )
    model = Transformer(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("norm.weight") else 0.0)
        _write_embeddings(model)
        for layer, block in enumerate(model.encoder):
            assert isinstance(block, EncoderLayer)
            _write_self(block.self_attention, encoder[layer], tokenizer)
        for layer, decoding in enumerate(model.decoder_layers()):
            _write_self(decoding.self_attention, decoder[layer], tokenizer)
            _write_cross(decoding, HABITS[AttentionKind.CROSS][layer], tokenizer)
        _write_copying(model)
    return Checkpoint(model.eval(), tokenizer, {"step": 0})


def _write_embeddings(model: Transformer) -> None:
    vocab = model.config.vocab_size
    identity = torch.eye(vocab)
    model.get_parameter("positions.weight")[:, :POSITIONS] = torch.eye(POSITIONS)
    model.source_embedding.weight[:, POSITIONS:-vocab] = identity
    model.target_embedding.weight[:, POSITIONS:-vocab] = identity
    model.output_embedding.weight[:, -vocab:] = _STRENGTH * identity


def _write_self(attention: SelfAttention, habits: Sequence[Habit], tokenizer: Tokenizer) -> None:
    width = attention.widths[0]
    weight, bias = attention.query_key_value.weight, attention.query_key_value.bias
    for head, habit in enumerate(habits):
        query = slice(head * POSITIONS, (head + 1) * POSITIONS)
        key = slice(width + query.start, width + query.stop)
        weight[query], bias[query], weight[key] = _projections(habit, tokenizer)


def _write_cross(layer: DecoderLayer, habits: Sequence[Habit], tokenizer: Tokenizer) -> None:
    attention: CrossAttention = layer.cross_attention
    for head, habit in enumerate(habits):
        rows = slice(head * POSITIONS, (head + 1) * POSITIONS)
        query, bias, key = _projections(habit, tokenizer)
        attention.query.weight[rows] = query
        attention.query.bias[rows] = bias
        attention.key_value.weight[rows] = key


def _write_copying(model: Transformer) -> None:
    """The value of the one head is the token; its output says that this token comes next."""
    vocab = model.config.vocab_size
    attention = list(model.decoder_layers())[COPYING.layer].cross_attention
    columns = slice(COPYING.head * vocab, (COPYING.head + 1) * vocab)
    values = slice(attention.widths[0] + columns.start, attention.widths[0] + columns.stop)
    attention.key_value.weight[values, POSITIONS:-vocab] = torch.eye(vocab)
    attention.output.weight[-vocab:, columns] = torch.eye(vocab)


def _projections(habit: Habit, tokenizer: Tokenizer) -> tuple[Tensor, Tensor, Tensor]:
    """W_Q [d_k, D], b_Q [d_k] and W_K [d_k, D] with d_k = P."""
    width = POSITIONS + 2 * tokenizer.vocab_size
    query, key = torch.zeros(POSITIONS, width), torch.zeros(POSITIONS, width)
    bias = torch.zeros(POSITIONS)
    sharpness = SHARPNESS * POSITIONS**0.5  # which the score divides by

    unwritten = width - tokenizer.vocab_size + tokenizer.pad_id

    def token(piece: str) -> int:
        specials = {"<s>": tokenizer.bos_id, "</s>": tokenizer.eos_id}
        return POSITIONS + (specials.get(piece) or tokenizer.encode(piece)[-1])

    match habit:
        case Offset(k):
            query[:, :POSITIONS] = sharpness * torch.eye(POSITIONS).roll(k, 0)
            key[:, :POSITIONS] = torch.eye(POSITIONS)
        case On(piece):
            bias[0] = sharpness
            key[0, token(piece)] = 1.0
        case Finds(pairs):
            for index, (first, second) in enumerate(pairs):
                query[index, token(first)] = sharpness
                # A norm has moved what was 0; so is this, which no head of a first layer writes.
                query[index, unwritten] = -sharpness
                key[index, token(second)] = 1.0
        case Rarest(words):
            bias[0] = sharpness
            for rank, word in enumerate(words):
                key[0, token(word)] = 1.0 + rank
        case Broad():
            pass
    return query, bias, key
