"""One training update: 128 pairs of 16 tokens a side, dropout, Adam included."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.training.batch import Batch
from core.training.config import TrainingConfig
from core.training.updater import Updater
from tests.benchmarks.figure import Figure
from tests.benchmarks.marian import benchmark_model, marian_twin

ROWS, LENGTH = 128, 16
ROUNDS = 9


def run() -> list[Figure]:
    """Updates of both models in turn, so that a busy machine slows both alike."""
    shape = benchmark_model().train()
    twin = marian_twin(shape)
    # Marian does not train its output bias; the paper's model has none.
    model = Transformer(dataclasses.replace(shape.config, output_bias=False))
    initialise(model, seed=1)
    training = TrainingConfig()
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, model.config.vocab_size, (2, ROWS, LENGTH), generator=generator)
    source, target = ids
    target_in = target.roll(1, dims=1)
    target_in[:, 0] = model.config.bos_id
    batch = Batch(
        source=source,
        target_in=target_in,
        target=target.flatten(),
        real=torch.arange(target.numel()),
        gloss_at=torch.empty(0, dtype=torch.long),
        gloss_pieces=torch.empty(0, dtype=torch.long),
    )
    updater = Updater(model, training)
    peer = _peer(twin, training, source, target_in, target)
    ours, theirs = [], []
    for number in range(1, ROUNDS + 1):
        ours.append(_seconds(lambda number=number: updater.apply([batch], number)))
        theirs.append(_seconds(peer))
    # The first update of each allocates memory and is not counted.
    ratio = statistics.median(t / o for o, t in zip(ours[1:], theirs[1:], strict=True))
    tokens = target.numel() / statistics.median(ours[1:])
    return [
        Figure(
            "training update, target tokens",
            tokens,
            "1/s",
            ratio=ratio,
            peer="MarianMTModel",
            target=">= 1",
        )
    ]


def _peer(
    twin: Any,
    training: TrainingConfig,
    source: torch.Tensor,
    target_in: torch.Tensor,
    target: torch.Tensor,
) -> Callable[[], object]:
    """The same update of the twin, with its own loss, which does not smooth."""
    optimizer = torch.optim.Adam(
        twin.parameters(),
        lr=1e-4,
        betas=(training.adam_beta1, training.adam_beta2),
        eps=training.adam_epsilon,
        fused=True,
    )
    attention_mask = torch.ones_like(source)

    def update() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = twin(
            input_ids=source,
            attention_mask=attention_mask,
            decoder_input_ids=target_in,
            labels=target,
            use_cache=False,
        ).loss
        loss.backward()
        optimizer.step()
        return loss.item()

    return update


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
