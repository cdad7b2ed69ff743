"""How well a model does on sentences it was not trained on.

Legend: N target positions that are not padding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from core.corpus.batching import plan_batches
from core.decoding.config import GREEDY, PARSING, SearchConfig
from core.decoding.translate import translate
from core.evaluation.metrics import Scores, score
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.training.batch import make_batch
from core.training.config import TRANSLATION, TrainingConfig
from core.training.loss import cross_entropy
from core.training.pairs import EncodedPairs
from core.training.workers import ALONE, Workers


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a validation; ``translations`` are in the order of the references' sources."""

    loss: float
    scores: Scores
    translations: list[str]

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))


def validation_search(config: TrainingConfig) -> SearchConfig:
    """Return the search of a run's validations, a greedy one."""
    return GREEDY if config.task == TRANSLATION else replace(PARSING, beam=1)


def validate(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: EncodedPairs,
    references: Mapping[str, Sequence[str]],
    batch_tokens: int,
    workers: Workers = ALONE,
    search: SearchConfig = GREEDY,
) -> Result:
    """Return the loss over ``pairs``, and scores of what ``search`` makes of the sources in
    ``references``.

    The workers, whose models are the same, share the work and all get the result.
    """
    with evaluating(model):
        loss = mean_loss(model, pairs, batch_tokens, workers)
        own = list(references)[workers.rank :: workers.count]
        texts = [translation.text for translation in translate(model, tokenizer, own, search)]
    shares = workers.gather(texts)
    translations = [shares[i % workers.count][i // workers.count] for i in range(len(references))]
    return Result(loss, score(translations, list(references.values())), translations)


def mean_loss(
    model: Transformer, pairs: EncodedPairs, batch_tokens: int, workers: Workers = ALONE
) -> float:
    """Return the unsmoothed negative log-likelihood per target token, in nats."""
    device = next(model.parameters()).device
    plan = plan_batches(
        pairs.source.lengths,
        pairs.target.lengths,
        source_budget=batch_tokens,
        target_budget=batch_tokens,
        seed=0,
        epoch=0,
    )
    total, tokens = 0.0, 0
    with torch.no_grad():
        for indices in plan[workers.rank :: workers.count]:
            batch = make_batch(pairs, indices, model.config, device)
            hidden = model.decode(batch.target_in, model.encode(batch.source), batch.source)
            real = hidden.flatten(0, 1)[batch.real]  # [N, D]
            output = model.output_embedding.weight
            total += cross_entropy(real, output, model.output_bias, batch.target).item()
            tokens += batch.tokens
    total, all_tokens = workers.sum(total, tokens)
    return total / all_tokens


@contextmanager
def evaluating(model: Transformer) -> Iterator[None]:
    """Switch dropout off inside, and restore the previous mode afterwards."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
