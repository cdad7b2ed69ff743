"""What a model does at "it" and at the German pronoun, in one teacher-forced pass.

Legend: n sentences, B batch, S source, T target, L layers, H heads, W words of the longest source
and one more for the end token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from core.config import ModelConfig
from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.sentence import Sentence, word_spans
from core.heads import AttentionKind
from core.model.attention import attention_weights
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.text.words import first_pieces, words_of_pieces

BATCH = 100


@dataclass(frozen=True, slots=True)
class PronounSentence:
    """A coreference sentence as pieces; ids end with the end token."""

    source: list[int]
    target: list[int]
    source_words: list[int]  # the word of each source piece, without the end token's
    it_piece: int
    antecedent_word: int
    pronoun_pieces: range  # where "er", "sie" or "es" stands in the target


def as_pieces(sentence: Sentence, tokenizer: Tokenizer) -> PronounSentence:
    source = tokenizer.tokens(sentence.source)
    target = tokenizer.target.tokens(sentence.target)
    source_spans = word_spans(sentence.source_words)
    target_firsts = first_pieces(target, word_spans(sentence.target_words))
    gold = coreference(sentence, Side.SOURCE)
    pronoun = coreference(sentence, Side.TARGET).start
    end = [tokenizer.eos_id]
    return PronounSentence(
        source=[token.id for token in source] + end,
        target=[token.id for token in target] + end,
        source_words=words_of_pieces(source, source_spans),
        it_piece=first_pieces(source, source_spans)[gold.start],
        antecedent_word=gold.end,
        pronoun_pieces=range(target_firsts[pronoun], [*target_firsts, len(target)][pronoun + 1]),
    )


def coreference(sentence: Sentence, side: Side) -> Dependency:
    """The link from "it", or from its translation, to the noun that is meant."""
    for dependency in sentence.dependencies:
        if dependency.kind is DependencyKind.COREFERENCE and dependency.side is side:
            return dependency
    raise ValueError(f"no coreference in {sentence.source!r}")


@dataclass(frozen=True, slots=True)
class Observation:
    """What was predicted in n sentences, and where each head looked.

    Attributes:
        predicted: [n] whether every piece of the pronoun had the highest probability, given the
            right translation up to it.
        encoder_hit: [n, L, H] whether the antecedent has the largest weight of all words in the
            row of "it", with "it" itself, punctuation marks and the end token among them: a row
            that rests on a sink is a miss.
        cross_hit: [n, L, H] the same in the decoder's row that predicts the pronoun.
        encoder_weight, cross_weight: [n, L, H] the antecedent's weight in these rows.

    The weight of a word of several pieces is the sum of theirs. A pruned head never hits and its
    weight is not a number.
    """

    predicted: npt.NDArray[np.bool_]
    encoder_hit: npt.NDArray[np.bool_]
    encoder_weight: npt.NDArray[np.float32]
    cross_hit: npt.NDArray[np.bool_]
    cross_weight: npt.NDArray[np.float32]


def observe(model: Transformer, sentences: Sequence[PronounSentence]) -> Observation:
    """``model`` in evaluation mode."""
    parts = [
        _observe_batch(model, sentences[start : start + BATCH])
        for start in range(0, len(sentences), BATCH)
    ]
    return Observation(
        predicted=np.concatenate([part.predicted for part in parts]),
        encoder_hit=np.concatenate([part.encoder_hit for part in parts]),
        encoder_weight=np.concatenate([part.encoder_weight for part in parts]),
        cross_hit=np.concatenate([part.cross_hit for part in parts]),
        cross_weight=np.concatenate([part.cross_weight for part in parts]),
    )


@torch.no_grad()
def _observe_batch(model: Transformer, sentences: Sequence[PronounSentence]) -> Observation:
    device = next(model.parameters()).device
    config = model.config
    source = _padded([each.source for each in sentences], config.pad_id, device)  # [B, S]
    target = _padded([each.target for each in sentences], config.pad_id, device)  # [B, T]
    target_in = torch.cat([torch.full_like(target[:, :1], config.bos_id), target[:, :-1]], dim=1)
    recording = Recording()
    memory = model.encode(source, recording)
    best = model.logits(model.decode(target_in, memory, source, recording)).argmax(-1)  # [B, T]
    right = (best == target).cpu().numpy()

    end_word = 1 + max(max(each.source_words) for each in sentences)
    words = _padded([[*each.source_words, end_word] for each in sentences], -1, device)  # [B, S]
    allowed = model.source_allowed(source)
    # [B, H, 1, d_k] from each layer: the row of "it", and the row that predicts the pronoun.
    it_rows = torch.tensor([each.it_piece for each in sentences], device=device)
    pronoun_rows = torch.tensor([each.pronoun_pieces[0] for each in sentences], device=device)
    encoder, cross = (  # [B, L, H, W]
        _numbered(_word_weights(layers, rows, allowed, words), config, kind)
        for kind, layers, rows in (
            (AttentionKind.ENCODER_SELF, recording.encoder_self, it_rows),
            (AttentionKind.CROSS, recording.cross, pronoun_rows),
        )
    )
    antecedents = np.array([each.antecedent_word for each in sentences])
    encoder_hit, encoder_weight = _at(encoder, antecedents)
    cross_hit, cross_weight = _at(cross, antecedents)
    return Observation(
        predicted=np.array(
            [right[row, each.pronoun_pieces].all() for row, each in enumerate(sentences)]
        ),
        encoder_hit=encoder_hit,
        encoder_weight=encoder_weight,
        cross_hit=cross_hit,
        cross_weight=cross_weight,
    )


def _word_weights(
    layers: Sequence[Projections], rows: Tensor, allowed: Tensor | None, words: Tensor
) -> list[Tensor]:
    """The weights of one query of each sentence, summed over the pieces of a word.

    rows [B], allowed [B, 1, 1, S], words [B, S] → [B, H, W] of each layer
    """
    sentence = torch.arange(len(rows), device=rows.device)
    count = int(words.max()) + 1
    result = []
    for layer in layers:
        query = layer.query[sentence, :, rows][:, :, None]  # [B, H, 1, d_k]
        weights = attention_weights(query, layer.key, allowed)[:, :, 0]  # [B, H, S]
        index = words.clamp(min=0)[:, None].expand_as(weights)
        kept = weights.masked_fill((words < 0)[:, None], 0.0)
        summed = weights.new_zeros(*weights.shape[:2], count)
        result.append(summed.scatter_add_(2, index, kept))
    return result


def _numbered(
    layers: Sequence[Tensor], config: ModelConfig, kind: AttentionKind
) -> npt.NDArray[np.float32]:
    """The heads of all layers by their numbers, [B, L, H, W]; a pruned one is not a number."""
    batch, _, words = layers[0].shape
    placed = np.full((batch, len(layers), config.heads(kind), words), np.nan, np.float32)
    for layer, weights in enumerate(layers):
        placed[:, layer, list(config.kept_heads(kind, layer))] = weights.cpu().numpy()
    return placed


def _at(
    weights: npt.NDArray[np.float32], antecedents: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
    """Whether the antecedent is the heaviest word, and its weight: [B, L, H] each."""
    on_antecedent = weights[np.arange(len(weights)), :, :, antecedents]
    hit = weights.argmax(axis=-1) == antecedents[:, None, None]
    return hit & ~np.isnan(on_antecedent), on_antecedent


def _padded(rows: Sequence[Sequence[int]], pad: int, device: torch.device) -> Tensor:
    width = max(map(len, rows))
    filled = [[*row, *[pad] * (width - len(row))] for row in rows]
    return torch.tensor(filled, device=device)
