"""Which heads matter for one sentence: each off by itself, or some together.

Legend: B settings of a batch, S source, T target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from core.config import ModelConfig
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.scoring import token_log_probabilities
from core.decoding.search import proceed, source_batch
from core.decoding.translate import best_hypotheses
from core.heads import AttentionKind, Gate, Head
from core.model.gates import Gates, gated
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

Factors = Mapping[Head, Gate]
"""The gates of the heads that are not on."""

BATCH_TOKENS = 1_024
"""Settings × longer side in one pass, so that a pass takes a fraction of a second."""


@dataclass(frozen=True, slots=True)
class Whole:
    """The sentence with all heads on.

    Attributes:
        translation: of the search, without special tokens.
        log_probability: natural logarithm of its probability, the end token's included.
    """

    translation: str
    ids: tuple[int, ...]
    log_probability: float


@dataclass(frozen=True, slots=True)
class SentenceEffect:
    """The same sentence with some heads off, scaled or even.

    Attributes:
        log_probability: of the translation that the model gives with all heads on.
        change: the difference from there; below 0 the heads support the translation.
        translation: what the search finds now.
        differs: whether that is another translation, token by token.
    """

    factors: Factors
    log_probability: float
    change: float
    translation: str
    differs: bool


def each_head(config: ModelConfig) -> list[Factors]:
    """Every head off by itself."""
    return [{head: 0.0} for head in config.every_head()]


def pairs_of_layer(config: ModelConfig, kind: AttentionKind, layer: int) -> list[Factors]:
    """Every two heads of a layer off together."""
    heads = [Head(kind, layer, head) for head in config.kept_heads(kind, layer)]
    return [dict.fromkeys(pair, 0.0) for pair in combinations(heads, 2)]


def sentence_effects(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    settings: Sequence[Factors],
    *,
    search: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> Iterator[Whole | SentenceEffect]:
    """Measure the sentence first with all heads on, then with each setting in order.

    The model is as it was whenever something is handed out, so it may be used between two results.

    Args:
        model: in evaluation mode.
        text: with a visible character.
        check: called between passes and before every decoding step; what it raises ends the work.

    Raises:
        UserError: the model lacks a head, or the text is longer than its learned positions.
    """
    gates = [Gates.of(model.config, factors) for factors in settings]
    source = tokenizer.encode(text)
    (best,) = best_hypotheses(model, [source], search, check=check)
    ids = [*best.ids, model.config.eos_id]
    (found,) = _passes(model, source, ids, [Gates.open(model.config)])
    whole = float(found.log_probability)
    original = tokenizer.target.decode(best.ids)
    yield Whole(original, tuple(best.ids), whole)
    size = max(1, BATCH_TOKENS // max(len(source) + 1, len(ids)))
    for start in range(0, len(gates), size):
        check()
        part = gates[start : start + size]
        for factors, one, setting in zip(
            settings[start : start + size], _passes(model, source, ids, part), part, strict=True
        ):
            translation, differs = original, False
            if search.beam > 1 or not one.most_probable:
                with gated(model, setting):
                    (now,) = best_hypotheses(model, [source], search, check=check)
                differs = now.ids != best.ids
                translation = tokenizer.target.decode(now.ids) if differs else original
            probability = float(one.log_probability)
            yield SentenceEffect(factors, probability, probability - whole, translation, differs)


@dataclass(frozen=True, slots=True)
class _Pass:
    """``most_probable``: whether each token is the most probable one, so that greedy search finds
    them all again."""

    log_probability: float
    most_probable: bool


@torch.inference_mode()
def _passes(
    model: Transformer, source: Sequence[int], ids: Sequence[int], settings: Sequence[Gates]
) -> list[_Pass]:
    """The teacher-forced translation with each setting, all in one pass."""
    count = len(settings)
    batch = source_batch(model, [source] * count)  # [B, S]
    fed = torch.tensor([[model.config.bos_id, *ids[:-1]]] * count, device=model.device)  # [B, T]
    with gated(model, Gates.stacked(settings)):
        hidden = model.decode(fed, model.encode(batch), batch)  # [B, T, D]
    return [_read(model, row, ids) for row in hidden]


def _read(model: Transformer, hidden: Tensor, ids: Sequence[int]) -> _Pass:
    """hidden [T, D]"""
    found = token_log_probabilities(model, hidden, ids)
    best = model.logits(hidden).argmax(dim=-1).tolist()
    return _Pass(float(found.sum(dtype=torch.float64)), best == list(ids))
