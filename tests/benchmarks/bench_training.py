"""Training updates on batches of similar length, dropout and Adam included, against two peers.

Legend: B pairs, S source, T target.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from core.bundled import bundled_models
from core.checkpoints.native import load_checkpoint
from core.config import ModelConfig
from core.corpus.batching import plan_batches
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.training.batch import Batch, make_batch
from core.training.config import TrainingConfig
from core.training.generation import generated_epoch
from core.training.updater import Updater
from tests.benchmarks.figure import Figure
from tests.benchmarks.marian import benchmark_model, marian_twin
from tests.benchmarks.operations import operations
from tests.benchmarks.torch_transformer import TorchTransformer

BATCH_TOKENS = 2048  # a side, padding included
PAIRS = 20_000
ROUNDS = 9
MATRIX = 2048

Step = Callable[[Batch], object]


def run() -> list[Figure]:
    """Updates of all models on a batch in turn, so that a busy machine slows all alike."""
    shape = benchmark_model().train()
    # Neither peer trains an output bias; the paper's model has none.
    model = Transformer(dataclasses.replace(shape.config, output_bias=False)).train()
    initialise(model, seed=1)
    batches, loading = _batches(model.config)
    training = TrainingConfig()
    updater = Updater(model, training)
    steps: dict[str, Step] = {
        "ours": lambda batch: updater.apply([batch], 1),
        "MarianMTModel": _marian(marian_twin(shape), training),
        "torch.nn.Transformer": _torch(TorchTransformer(model.config).train(), training),
    }
    seconds: dict[str, list[float]] = {name: [] for name in (*steps, "product")}
    for batch in batches:
        for name, step in steps.items():
            seconds[name].append(_seconds(lambda step=step, batch=batch: step(batch)))
        seconds["product"].append(_product())
    # The first update of each allocates memory and is not counted.
    counted = {name: times[1:] for name, times in seconds.items()}
    ours = sum(counted["ours"])
    peak = 2 * MATRIX**3 / statistics.median(counted["product"])
    work = sum(operations(model.config, batch) for batch in batches[1:])
    figures = [
        Figure(
            f"training update, target tokens ({peer} {_rate(batches, times):,.0f})",
            _rate(batches, counted["ours"]),
            "1/s",
            ratio=statistics.median(t / o for o, t in zip(counted["ours"], times, strict=True)),
            peer=peer,
            target=">= 1.25",
        )
        for peer, times in counted.items()
        if peer in steps and peer != "ours"
    ]
    return [
        *figures,
        Figure("training update, share of the peak", 100 * work / ours / peak, "%"),
        Figure("matrix product, the peak", peak / 1e9, "GFLOP/s"),
        Figure(
            "data loading, share of an update",
            100 * loading * len(counted["ours"]) / ours,
            "%",
            target="< 3",
        ),
    ]


def _batches(config: ModelConfig) -> tuple[list[Batch], float]:
    """Some batches of an epoch of generated sentences, and the seconds that one takes to make:
    generated, encoded, planned and padded.

    Their pieces are those of a bundled model, so all are in the larger vocabulary here.
    """
    tokenizer = load_checkpoint(bundled_models()[0]).tokenizer
    start = time.perf_counter()
    pairs = generated_epoch(
        0, tokenizer=tokenizer, count=PAIRS, seed=1, glosses=False, max_length=256
    )
    plan = plan_batches(
        pairs.source.lengths,
        pairs.target.lengths,
        source_budget=BATCH_TOKENS,
        target_budget=BATCH_TOKENS,
        seed=1,
        epoch=0,
    )
    batches = [make_batch(pairs, indices, config, torch.device("cpu")) for indices in plan]
    loading = (time.perf_counter() - start) / len(plan)
    return batches[: ROUNDS + 1], loading


def _marian(twin: Any, training: TrainingConfig) -> Step:
    """The same update with Marian's own loss, which does not smooth and so does less."""
    optimizer = _adam(twin, training)
    pad, ignored = twin.config.pad_token_id, -100

    def step(batch: Batch) -> float:
        optimizer.zero_grad(set_to_none=True)
        real = batch.source != pad
        labels = torch.full_like(batch.target_in, ignored)
        labels.view(-1)[batch.real] = batch.target
        loss = twin(
            input_ids=batch.source,
            attention_mask=None if bool(real.all()) else real,
            decoder_input_ids=batch.target_in,
            labels=labels,
            use_cache=False,
        ).loss
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def _torch(model: TorchTransformer, training: TrainingConfig) -> Step:
    """The same update with torch's smoothed cross-entropy."""
    optimizer = _adam(model, training)

    def step(batch: Batch) -> float:
        optimizer.zero_grad(set_to_none=True)
        logits = model(batch.source, batch.target_in).flatten(0, 1)[batch.real]
        loss = F.cross_entropy(logits, batch.target, label_smoothing=training.label_smoothing)
        torch.autograd.backward(loss)
        optimizer.step()
        return loss.item()

    return step


def _adam(model: nn.Module, training: TrainingConfig) -> torch.optim.Adam:
    return torch.optim.Adam(
        model.parameters(),
        lr=1e-4,
        betas=(training.adam_beta1, training.adam_beta2),
        eps=training.adam_epsilon,
        fused=True,
    )


def _product() -> float:
    """Seconds of the best of a few large matrix products."""
    a, b, out = (torch.randn(MATRIX, MATRIX) for _ in range(3))
    return min(_seconds(lambda: torch.mm(a, b, out=out)) for _ in range(3))


def _rate(batches: list[Batch], seconds: list[float]) -> float:
    """Target tokens per second, the first batch not counted."""
    return sum(batch.tokens for batch in batches[1:]) / sum(seconds)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
