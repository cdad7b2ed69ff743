"""What a model loses, or gains, when heads are switched off, scaled or made even (Michel et al.
2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch

from core.analysis.importance import importance
from core.analysis.sample import Sample
from core.corpus.grammar.generate import minimal_pairs
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.scoring import score_targets
from core.decoding.translate import translate
from core.evaluation.gold import PairScore, pair_score
from core.evaluation.metrics import score
from core.evaluation.pronouns import as_pieces, observe
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

MINIMAL_PAIRS = 200


@dataclass(frozen=True, slots=True)
class Quality:
    """How good a model's translations of a sample are.

    Attributes:
        loss: mean cross-entropy of a token of the first references, nats.
        bleu, chrf: of the translations, 0 to 100.
        exact: per cent of the translations that are one of their references, to the character.
        pronoun: of minimal pairs, how often the right pronoun for "it" is the most probable word
            after the right beginning; None for a sample that was not generated.
    """

    loss: float
    bleu: float
    chrf: float
    exact: float
    pronoun: PairScore | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a model, gated or not, makes of a sample: its translations, and how good they are."""

    translations: tuple[str, ...]
    quality: Quality


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a model makes of the sample with all heads on, and how much its loss depends on each
    head, by ``Head.code`` (see ``core.analysis.importance``)."""

    measured: Measured
    importance: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Effect:
    """What gates change; ``changed`` is the percentage of translations that became another text."""

    after: Quality
    changed: float

    @classmethod
    def between(cls, before: Measured, after: Measured) -> Self:
        pairs = zip(before.translations, after.translations, strict=True)
        return cls(after.quality, 100.0 * float(np.mean([one != other for one, other in pairs])))


BASELINE_PASSES = 3
"""Over the sample: there and back for the importance, after the translating."""


def baseline(
    model: Transformer,
    tokenizer: Tokenizer,
    sample: Sample,
    *,
    search: SearchConfig = GREEDY,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Baseline:
    """Measure with all heads on, as ``measure`` does; ``progress`` counts to 3 · sentences."""
    count = len(sample.sources)
    measured = measure(model, tokenizer, sample, search=search, seed=seed, progress=progress)
    sides = tokenizer.encode_all(sample.sources), tokenizer.target.encode_all(sample.targets)
    pairs = list(zip(*sides, strict=True))
    found = importance(model, pairs, progress=lambda done: progress(count + 2 * done))
    return Baseline(
        measured,
        {
            head.code: float(found[head.kind][head.layer, head.head])
            for head in model.config.every_head()
        },
    )


def measure(
    model: Transformer,
    tokenizer: Tokenizer,
    sample: Sample,
    *,
    search: SearchConfig = GREEDY,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Measured:
    """Translate the sample and score the translations.

    Args:
        model: in evaluation mode; inside ``gated``, with those gates.
        sample: with translations.
        seed: of the minimal pairs that come with a generated sample.
        progress: told how many translations are done; what it raises ends the work.
    """
    translated = translate(model, tokenizer, sample.sources, search, progress=progress)
    translations = [one.text for one in translated]
    scores = score(translations, sample.references)
    pairs = zip(translations, sample.references, strict=True)
    scored = score_targets(
        model,
        tokenizer.encode_all(sample.sources),
        tokenizer.target.encode_all(sample.targets),
    )
    quality = Quality(
        loss=-float(torch.cat(scored).mean(dtype=torch.float64)),
        bleu=scores.bleu,
        chrf=scores.chrf,
        exact=100.0 * float(np.mean([text in references for text, references in pairs])),
        pronoun=_pronoun(model, tokenizer, seed) if sample.gold else None,
    )
    return Measured(tuple(translations), quality)


def _pronoun(model: Transformer, tokenizer: Tokenizer, seed: int) -> PairScore:
    sentences = [
        as_pieces(sentence, tokenizer)
        for pair in minimal_pairs(MINIMAL_PAIRS, seed=seed, split="test")
        for sentence in pair
    ]
    return pair_score(observe(model, sentences).predicted)
