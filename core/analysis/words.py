"""Maps over tokens as maps over the words of the grammar.

Legend: B pairs of a batch, H heads of a layer, Q queries, K keys (tokens); R, C words of the query
and the key side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.analysis.passes import Pair, Pass
from core.corpus.grammar.sentence import Sentence, word_spans
from core.decoding.batching import padded
from core.heads import AttentionKind
from core.text.tokenizer import Tokenizer
from core.text.words import words_of_pieces

NO_WORD = -1


class Reading(StrEnum):
    """The word that a decoder row stands for: the one it is fed or the one it predicts."""

    FED = "fed"
    PREDICTED = "predicted"


def readings(kind: AttentionKind) -> tuple[Reading | None, ...]:
    """Return the readings that rows of this kind have; the encoder's rows are their tokens."""
    return (None,) if kind is AttentionKind.ENCODER_SELF else tuple(Reading)


@dataclass(frozen=True, slots=True)
class WordedPair:
    """A generated sentence and its translation, and which word each of their ids is in.

    A word whose characters all belong to a piece of the word after it has no id.
    """

    pair: Pair
    source_words: tuple[int, ...]
    target_words: tuple[int, ...]

    def rows(self, kind: AttentionKind, reading: Reading | None) -> tuple[int, ...]:
        """The word of each query, ``NO_WORD`` for specials."""
        if kind is AttentionKind.ENCODER_SELF:
            return (*self.source_words, NO_WORD)
        if reading is Reading.PREDICTED:
            return (*self.target_words, NO_WORD)
        return (NO_WORD, *self.target_words)

    def columns(self, kind: AttentionKind) -> tuple[int, ...]:
        """The word of each key; the decoder's own are what it is fed."""
        if kind is AttentionKind.DECODER_SELF:
            return (NO_WORD, *self.target_words)
        return (*self.source_words, NO_WORD)


def worded(sentence: Sentence, tokenizer: Tokenizer) -> WordedPair:
    source = tokenizer.tokens(sentence.source)
    target = tokenizer.target.tokens(sentence.target)
    return WordedPair(
        Pair(
            sentence.source,
            sentence.target,
            [token.id for token in source],
            [token.id for token in target],
        ),
        tuple(words_of_pieces(source, word_spans(sentence.source_words))),
        tuple(words_of_pieces(target, word_spans(sentence.target_words))),
    )


class WordMaps:
    """The maps over words of one pass, of all heads of one kind by one reading of the rows.

    To a word of several pieces the sum, from it the mean over them, so that a row and what it
    puts on specials still add up to 1 (Clark et al. 2019, arXiv 1906.04341). Words without a
    piece have zeros.
    """

    def __init__(
        self,
        passed: Pass,
        pairs: Sequence[WordedPair],
        kind: AttentionKind,
        reading: Reading | None,
    ) -> None:
        """Prepare the words of ``pairs``, those of the pass in its order."""
        device = passed.source.device
        rows = _members([pair.rows(kind, reading) for pair in pairs], device)  # [B, Q, R]
        means = rows / rows.sum(dim=1, keepdim=True).clamp(min=1.0)
        self._means = means.transpose(1, 2)[:, None]  # [B, 1, R, Q]
        self._columns = _members([pair.columns(kind) for pair in pairs], device)[:, None]
        self._passed = passed
        self._kind = kind

    def weights(self, layer: int) -> Tensor:
        """Return the weights between words, [B, H, R, C]."""
        return self._means @ (self._passed.weights(self._kind, layer) @ self._columns)


def _members(words: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """[B, tokens, words], 1.0 where a token is in a word."""
    index = padded(words, NO_WORD, device)
    return (index[..., None] == torch.arange(int(index.max()) + 1, device=device)).float()
