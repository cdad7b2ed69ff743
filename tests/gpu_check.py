"""Check training on a GPU: `python -m tests.gpu_check`, under four minutes. Not run by pytest.

- In fp32 without TF32 it computes what the CPU does.
- In bf16 a model learns the generated corpus.
- Target tokens/s of the base model, and its share of the measured peak of matrix products, with
  torch.compile and without.

The exit code is 1 when a target is missed, and 2 where there is no GPU.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
import tempfile
import time
from pathlib import Path

import torch

from core.config import ModelConfig
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.presets import preset
from core.training.batch import Batch
from core.training.config import TrainingConfig
from core.training.events import Event, Finished
from core.training.run import start_run
from core.training.updater import Update, Updater
from tests.benchmarks.figure import Figure, table
from tests.benchmarks.operations import operations

LENGTH = 32  # tokens of every sentence, both sides
PARITY_PAIRS = 8
SPEED_PAIRS = 25_000 // LENGTH  # the paper's batch
UPDATES = 20
MATRIX = 8192
LOSS_OF_CHANCE = 6.4  # of 600 equally likely pieces


def main() -> int:
    if not torch.cuda.is_available():
        print("There is no CUDA device here, so nothing was checked.", file=sys.stderr)
        return 2
    cuda = torch.device("cuda")
    began = time.monotonic()
    base = preset("base").model
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", file=sys.stderr)
    figures = [*parity(base, cuda), learning(cuda), *speed(base, SPEED_PAIRS, MATRIX, cuda)]
    print(table([*figures, Figure("all checks", time.monotonic() - began, "s", target="< 240")]))
    return 1 if any(figure.met is False for figure in figures) else 0


def parity(config: ModelConfig, device: torch.device) -> list[Figure]:
    """Logits, and the losses before and after an update, of the same weights in both places."""
    torch.set_float32_matmul_precision("highest")
    config = dataclasses.replace(config, dropout=0.0)
    training = TrainingConfig(warmup=100)
    ours = fresh_model(config)
    theirs = copy.deepcopy(ours).to(device)
    logits = [
        model.logits(model.decode(batch.target_in, model.encode(batch.source), batch.source))
        .detach()
        .cpu()
        for model, batch in ((ours, cpu_batch(config)), (theirs, on(device, cpu_batch(config))))
    ]
    difference = (logits[0] - logits[1]).abs().max().item()
    losses = []
    for model in (ours, theirs):
        updater = Updater(model, training)
        batch = on(updater.device, cpu_batch(config))
        losses.append([loss(updater.apply([batch], number)) for number in (1, 2)])
    before, after = (abs(a - b) for a, b in zip(*losses, strict=True))
    return [
        Figure("fp32 against the CPU: a logit, at most", difference / 1e-6, "1e-6", target="< 100"),
        Figure("fp32 against the CPU: loss", before / 1e-6, "1e-6 nats", target="< 100"),
        Figure("the same after an update", after / 1e-6, "1e-6 nats", target="< 100"),
    ]


def learning(device: torch.device, precision: str = "bf16") -> Figure:
    """The loss that a tiny run reaches; in fp32 on a CPU it was 3.3."""
    config = preset("tiny").with_settings(
        {
            **{"device": device.type, "precision": precision, "probe_points": 0},
            **{"steps": 400, "warmup": 100, "validate_every": 400, "checkpoint_every": 200},
        }
    )
    events: list[Event] = []
    with tempfile.TemporaryDirectory() as folder:
        start_run(
            Path(folder) / "run",
            config,
            command="a check",
            tell=events.append,
            should_stop=lambda: False,
        )
    finished = events[-1]
    assert isinstance(finished, Finished)
    return Figure(
        f"{precision}: validation loss after {finished.step} updates (chance {LOSS_OF_CHANCE})",
        finished.valid_loss,
        "nats",
        target="< 4",
    )


def speed(config: ModelConfig, pairs: int, matrix: int, device: torch.device) -> list[Figure]:
    peak = peak_rate(matrix, device)
    figures = [Figure("bf16 matrix product, the peak", peak / 1e12, "TFLOP/s")]
    batch = on(device, random_batch(config, pairs))
    work = operations(config, batch)
    for compiled in (False, True):
        training = TrainingConfig(precision="bf16", compile=compiled)
        updater = Updater(fresh_model(config).to(device).train(), training)
        began = time.monotonic()
        for number in (1, 2, 3):
            updater.apply([batch], number)
        ready = time.monotonic() - began
        seconds = update_seconds(updater, batch)
        name = "base, bf16, compiled" if compiled else "base, bf16"
        figures += [
            Figure(f"{name}: target tokens", batch.tokens / seconds, "1/s"),
            Figure(f"{name}: share of the peak", 100 * work / seconds / peak, "%"),
            Figure(f"{name}: the first three updates", ready, "s"),
        ]
    return figures


def update_seconds(updater: Updater, batch: Batch) -> float:
    """Mean of some updates; each ends with its loss on the CPU, so all have been computed."""
    began = time.perf_counter()
    for number in range(4, 4 + UPDATES):
        updater.apply([batch], number)
    return (time.perf_counter() - began) / UPDATES


def peak_rate(size: int, device: torch.device) -> float:
    """Operations per second of the best of some large matrix products in bfloat16."""
    a, b = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = float("inf")
    for _ in range(20):
        began = time.perf_counter()
        product = a @ b
        product[0, 0].item()  # waits for the device
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def fresh_model(config: ModelConfig) -> Transformer:
    model = Transformer(config)
    initialise(model, seed=1)
    return model


def cpu_batch(config: ModelConfig) -> Batch:
    """Some pairs, one of them with a shorter source, so that padding is masked too."""
    batch = random_batch(config, PARITY_PAIRS)
    batch.source[0, LENGTH // 2 :] = config.pad_id
    return batch


def random_batch(config: ModelConfig, pairs: int) -> Batch:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, config.vocab_size, (2, pairs, LENGTH), generator=generator)
    source, target = ids.unbind()
    target_in = target.roll(1, dims=1)
    target_in[:, 0] = config.bos_id
    nothing = torch.empty(0, dtype=torch.long)
    return Batch(
        source=source,
        target_in=target_in,
        target=target.flatten(),
        real=torch.arange(target.numel()),
        gloss_at=nothing,
        gloss_pieces=nothing,
    )


def on(device: torch.device, batch: Batch) -> Batch:
    return Batch(
        **{field.name: getattr(batch, field.name).to(device) for field in dataclasses.fields(batch)}
    )


def loss(update: Update | None) -> float:
    """Of a target token."""
    assert update is not None
    return update.loss_sum / update.tokens


if __name__ == "__main__":
    sys.exit(main())
