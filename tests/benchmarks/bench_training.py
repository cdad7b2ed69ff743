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
from torch import Tensor, nn

from core.bundled import bundled_models
from core.checkpoints.native import load_checkpoint
from core.config import ModelConfig
from core.corpus.batching import plan_batches
from core.model.initialisation import initialise
from core.model.kernels import PRESENT
from core.model.measuring import use_best
from core.model.product_choice import ONEDNN, TORCH
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
MARIANS_LOSS = "MarianMTModel, its own loss"

Step = Callable[[Batch], object]
Logits = Callable[[Tensor, Tensor], Tensor]


def run() -> list[Figure]:
    """Updates of all models on a batch in turn, so that a busy machine slows all alike.

    The peers are held against the same loss. Marian's own, which does not smooth and so is less
    work, is measured too.
    """
    shape = benchmark_model().train()
    # Neither peer trains an output bias; the paper's model has none.
    model = Transformer(dataclasses.replace(shape.config, output_bias=False)).train()
    initialise(model, seed=1)
    batches, loading = _batches(model.config)
    training = TrainingConfig()
    updater = Updater(model, training)
    use_best()
    steps: dict[str, Step] = {
        "ours": lambda batch: updater.apply([batch], 1),
        "MarianMTModel": _same_loss(_marian_logits(twin := marian_twin(shape)), twin, training),
        "torch.nn.Transformer": _same_loss(
            peer := TorchTransformer(model.config).train(), peer, training
        ),
        MARIANS_LOSS: _own_loss(marian_twin(shape), training),
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
            target=None if peer == MARIANS_LOSS else ">= 1.5",
        )
        for peer, times in counted.items()
        if peer in steps and peer != "ours"
    ]
    return [
        *figures,
        Figure("training update, share of the peak", 100 * work / ours / peak, "%", target=">= 65"),
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
    pairs = generated_epoch(0, tokenizer=tokenizer, config=TrainingConfig(grammar_pairs=PAIRS))
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


def _same_loss(logits: Logits, model: nn.Module, training: TrainingConfig) -> Step:
    """The update that we make, with torch's smoothed cross-entropy of the real positions."""
    optimizer = _adam(model, training)

    def step(batch: Batch) -> float:
        optimizer.zero_grad(set_to_none=True)
        rows = logits(batch.source, batch.target_in).flatten(0, 1)
        if batch.tokens < len(rows):
            rows = rows[batch.real]
        loss = F.cross_entropy(rows, batch.target, label_smoothing=training.label_smoothing)
        torch.autograd.backward(loss)
        optimizer.step()
        return loss.item()

    return step


def _marian_logits(twin: Any) -> Logits:
    return lambda source, target_in: (
        twin(
            input_ids=source,
            attention_mask=_mask(twin, source),
            decoder_input_ids=target_in,
            use_cache=False,
        ).logits
    )


def _own_loss(twin: Any, training: TrainingConfig) -> Step:
    optimizer = _adam(twin, training)

    def step(batch: Batch) -> float:
        optimizer.zero_grad(set_to_none=True)
        labels = torch.full_like(batch.target_in, -100)  # which its loss leaves out
        labels.view(-1)[batch.real] = batch.target
        loss = twin(
            input_ids=batch.source,
            attention_mask=_mask(twin, batch.source),
            decoder_input_ids=batch.target_in,
            labels=labels,
            use_cache=False,
        ).loss
        torch.autograd.backward(loss)
        optimizer.step()
        return loss.item()

    return step


def _mask(twin: Any, source: Tensor) -> Tensor | None:
    real = source != twin.config.pad_token_id
    return None if bool(real.all()) else real


def _adam(model: nn.Module, training: TrainingConfig) -> torch.optim.Adam:
    return torch.optim.Adam(
        model.parameters(),
        lr=1e-4,
        betas=(training.adam_beta1, training.adam_beta2),
        eps=training.adam_epsilon,
        fused=True,
    )


def _product() -> float:
    """Seconds of the best of a few large matrix products, by the best kernel for training."""
    a, b = (torch.randn(MATRIX, MATRIX) for _ in range(2))
    kernels = [PRESENT[name] for name in (TORCH, ONEDNN) if name in PRESENT]
    with torch.inference_mode():
        return min(
            _seconds(lambda kernel=kernel: kernel.multiply(a, b, b, None))
            for _ in range(3)
            for kernel in kernels
        )


def _rate(batches: list[Batch], seconds: list[float]) -> float:
    """Target tokens per second, the first batch not counted."""
    return sum(batch.tokens for batch in batches[1:]) / sum(seconds)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
