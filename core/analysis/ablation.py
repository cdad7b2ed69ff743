"""What a model loses, or gains, when heads are switched off or scaled (Michel et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from core.analysis.sample import Sample
from core.corpus.grammar.generate import minimal_pairs
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.scoring import score_targets
from core.decoding.translate import translate
from core.evaluation.gold import PairScore, pair_score
from core.evaluation.metrics import score
from core.evaluation.pronouns import PronounSentence, as_pieces, observe
from core.model.gates import Gates, gated
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

CHUNK = 100
MINIMAL_PAIRS = 200


@dataclass(frozen=True, slots=True)
class Quality:
    """Of a model over a sample.

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
class Effect:
    """The same sample with all gates open, and with the given ones.

    Attributes:
        sentences: how many.
        changed: per cent of the translations that became another text.
    """

    sentences: int
    before: Quality
    after: Quality
    changed: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def ablate(
    model: Transformer,
    tokenizer: Tokenizer,
    sample: Sample,
    gates: Gates,
    *,
    search: SearchConfig = GREEDY,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Effect:
    """
    Args:
        model: in evaluation mode.
        sample: with translations.
        seed: of the minimal pairs that come with a generated sample.
        progress: told how many of 2 · sentences translations are done; what it raises ends the
            work.
    """
    pairs = _minimal_pairs(tokenizer, seed) if sample.gold else []
    work = _Work(model, tokenizer, sample, search, pairs, progress)
    before, plain = work.measure()
    with gated(model, gates):
        after, changed = work.measure()
    return Effect(
        sentences=len(sample.sources),
        before=before,
        after=after,
        changed=100.0
        * float(np.mean([one != other for one, other in zip(plain, changed, strict=True)])),
    )


def _minimal_pairs(tokenizer: Tokenizer, seed: int) -> list[PronounSentence]:
    return [
        as_pieces(sentence, tokenizer)
        for pair in minimal_pairs(MINIMAL_PAIRS, seed=seed, split="test")
        for sentence in pair
    ]


@dataclass(slots=True)
class _Work:
    model: Transformer
    tokenizer: Tokenizer
    sample: Sample
    search: SearchConfig
    pairs: Sequence[PronounSentence]
    progress: Callable[[int], None]
    done: int = 0

    def measure(self) -> tuple[Quality, list[str]]:
        """With the translations."""
        sample = self.sample
        translations = self.translations()
        scores = score(translations, sample.references)
        exact = [
            text in references
            for text, references in zip(translations, sample.references, strict=True)
        ]
        scored = score_targets(
            self.model,
            self.tokenizer.encode_all(sample.sources),
            self.tokenizer.target.encode_all(sample.targets),
        )
        quality = Quality(
            loss=-float(torch.cat(scored).mean(dtype=torch.float64)),
            bleu=scores.bleu,
            chrf=scores.chrf,
            exact=100.0 * float(np.mean(exact)),
            pronoun=pair_score(observe(self.model, self.pairs).predicted) if self.pairs else None,
        )
        return quality, translations

    def translations(self) -> list[str]:
        texts: list[str] = []
        for start in range(0, len(self.sample.sources), CHUNK):
            chunk = self.sample.sources[start : start + CHUNK]
            found = translate(self.model, self.tokenizer, chunk, self.search)
            texts += [one.text for one in found]
            self.done += len(chunk)
            self.progress(self.done)
        return texts
