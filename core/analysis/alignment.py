"""Cross-attention as word alignment: the alignment error rate of each head, by both readings.

Legend: n sentences, B pairs of a batch, L layers, N heads in the order of their maps, R target
words, C source words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.analysis.passes import Pass, recorded_passes
from core.analysis.words import Reading, WordedPair, WordMaps, worded
from core.corpus.grammar.sentence import Sentence
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

WordLink = tuple[int, int]
"""A source word and a target word."""


def alignment_error_rate(
    found: Collection[WordLink], sure: Collection[WordLink], possible: Collection[WordLink]
) -> float:
    """Return 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), where S ⊆ P (Och and Ney 2003).

    Raises:
        ValueError: both ``found`` and ``sure`` are empty, or a sure link is not possible.
    """
    a, s, p = set(found), set(sure), set(possible)
    if not a | s:
        raise ValueError("no alignment to compare")
    if not s <= p:
        raise ValueError("a sure link is not possible")
    return 1.0 - (len(a & s) + len(a & p)) / (len(a) + len(s))


@dataclass(frozen=True, slots=True, eq=False)
class AlignmentErrors:
    """Alignment error rates over a corpus, 0 to 1; each target word is linked to one source word.

    Attributes:
        heads: of cross-attention, [N], one or more.
        of_heads: [N].
        of_layers: [L], of the mean of a layer's maps; NaN for a layer without heads.
        diagonal: of linking each word to the one at the same share of the sentence.
        least: of the best that one link for each target word can do.
    """

    reading: Reading
    heads: tuple[Head, ...]
    of_heads: NDArray[np.float64]
    of_layers: NDArray[np.float64]
    diagonal: float
    least: float

    @property
    def best(self) -> int:
        """The place in ``heads`` of the one that aligns best."""
        return int(self.of_heads.argmin())

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; a layer without heads is null."""
        heads = [
            {"name": head.name, "layer": head.layer, "head": head.head, "error": float(error)}
            for head, error in zip(self.heads, self.of_heads, strict=True)
        ]
        return {
            "reading": self.reading.value,
            "best": heads[self.best],
            "layers": [None if np.isnan(error) else float(error) for error in self.of_layers],
            "diagonal": self.diagonal,
            "least": self.least,
            "heads": heads,
        }


def alignment_errors(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: Sequence[Sentence],
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[Reading, AlignmentErrors]:
    """Measure one or more sentences whose correct translation is forced upon the decoder.

    Args:
        model: in evaluation mode, with a head of cross-attention.
        progress: told how many sentences are done.
    """
    tally = AlignmentTally(tokenizer, sentences)
    done = 0
    for passed in recorded_passes(model, tally.pairs):
        tally.add(passed)
        done += len(passed.indices)
        progress(done)
    return tally.errors()


class AlignmentTally:
    """Counts pass by pass, for passes that are made for other counts too.

    Attributes:
        pairs: the sentences as the passes take them.
    """

    def __init__(self, tokenizer: Tokenizer, sentences: Sequence[Sentence]) -> None:
        self._sentences = sentences
        self._worded = [worded(sentence, tokenizer) for sentence in sentences]
        self._counts = {reading: _Counts() for reading in Reading}
        self.pairs = [one.pair for one in self._worded]

    def add(self, passed: Pass) -> None:
        """Count a pass; ``passed.indices`` are places in ``pairs``."""
        pairs = [self._worded[index] for index in passed.indices]
        sentences = [self._sentences[index] for index in passed.indices]
        for reading, counts in self._counts.items():
            counts.add(passed, pairs, sentences, reading)

    def errors(self) -> dict[Reading, AlignmentErrors]:
        return {reading: counts.errors(reading) for reading, counts in self._counts.items()}


class _Counts:
    """Links of the grammar are all sure, so |A ∩ S| = |A ∩ P|."""

    def __init__(self) -> None:
        self._heads: tuple[Head, ...] = ()
        self._hits: list[list[Tensor]] = []  # of each batch and layer [H + 1], the mean map last
        self._found = self._sure = self._linkable = self._on_diagonal = 0

    def add(
        self,
        passed: Pass,
        pairs: Sequence[WordedPair],
        sentences: Sequence[Sentence],
        reading: Reading,
    ) -> None:
        maps = WordMaps(passed, pairs, AttentionKind.CROSS, reading)
        gold, linked = _gold(pairs, sentences)  # [B, R, C], [B, R]
        self._heads = passed.heads(AttentionKind.CROSS)
        self._hits.append([])
        for layer in range(passed.layers(AttentionKind.CROSS)):
            weights = maps.weights(layer).cpu()  # [B, H, R, C]
            with_mean = torch.cat([weights, weights.mean(dim=1, keepdim=True)], dim=1)
            heaviest = with_mean.argmax(dim=-1)[..., None]  # [B, H + 1, R, 1]
            right = gold[:, None].expand(with_mean.shape).gather(-1, heaviest)[..., 0]
            self._hits[-1].append((right & linked[:, None]).sum(dim=(0, 2)))
        self._found += int(linked.sum())
        self._sure += sum(len(sentence.alignment) for sentence in sentences)
        self._linkable += int((gold.any(dim=-1) & linked).sum())
        self._on_diagonal += sum(
            (diagonal(word, sentence), word) in sentence.alignment
            for pair, sentence in zip(pairs, sentences, strict=True)
            for word in set(pair.target_words)
        )

    def errors(self, reading: Reading) -> AlignmentErrors:
        hits = [
            torch.stack(of_layer).sum(dim=0).numpy() for of_layer in zip(*self._hits, strict=True)
        ]
        empty = np.array([len(of_layer) == 1 for of_layer in hits])
        return AlignmentErrors(
            reading=reading,
            heads=self._heads,
            of_heads=self._rate(np.concatenate([of_layer[:-1] for of_layer in hits])),
            of_layers=np.where(empty, np.nan, self._rate(np.array([one[-1] for one in hits]))),
            diagonal=float(self._rate(self._on_diagonal)),
            least=float(self._rate(self._linkable)),
        )

    def _rate(self, hits: NDArray[np.int64] | int) -> NDArray[np.float64]:
        return 1.0 - 2.0 * np.asarray(hits, dtype=np.float64) / (self._found + self._sure)


def diagonal(word: int, sentence: Sentence) -> int:
    """The source word that lies at the same share of its sentence as a target word."""
    return word * len(sentence.source_words) // len(sentence.target_words)


def _gold(pairs: Sequence[WordedPair], sentences: Sequence[Sentence]) -> tuple[Tensor, Tensor]:
    """Which links are right, [B, R, C], and which target words have a row at all, [B, R]."""
    rows = 1 + max(max(pair.target_words) for pair in pairs)
    columns = 1 + max(max(pair.source_words) for pair in pairs)
    gold = torch.zeros(len(pairs), rows, columns, dtype=torch.bool)
    linked = torch.zeros(len(pairs), rows, dtype=torch.bool)
    for index, (pair, sentence) in enumerate(zip(pairs, sentences, strict=True)):
        sources, targets = zip(*sentence.alignment, strict=True)
        gold[index, list(targets), list(sources)] = True
        linked[index, list(pair.target_words)] = True
    return gold, linked
