"""What a training costs: the paper's estimate from time, and an exact count of its products.

The paper multiplies training time, the number of GPUs, and a GPU's sustained rate (section 6.1,
footnote 5). That counts what the GPUs could have done. The count here is of the products that the
model needs: in a pass, ``core.analysis.work`` says how many multiply-adds; the backward pass takes
twice as many, and each is two operations, so that training takes 6 operations for each multiply-add
of its forward passes. Softmax, norms, dropout and the optimizer are left out, as is usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.analysis.work import pass_work
from core.config import ModelConfig
from core.errors import UserError

SUSTAINED = {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}
"""Operations a second that the paper assumes for a GPU, in single precision (footnote 5)."""

PER_MULTIPLY_ADD = 6
"""Operations of training for each multiply-add of a forward pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How much text a training reads.

    Attributes:
        updates: how many updates of the weights.
        source_tokens, target_tokens: of each update.
        length: the mean number of tokens of a sentence, on either side; attention compares each
            with all others of its sentence.
    """

    updates: int
    source_tokens: float
    target_tokens: float
    length: float = 25.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTime:
    """How long how many GPUs worked."""

    hours: float
    gpus: int
    gpu: str

    @property
    def flops(self) -> float:
        """The paper's estimate: hours · 3,600 s · GPUs · sustained operations a second."""
        return self.hours * 3600 * self.gpus * SUSTAINED[self.gpu]


def training_flops(config: ModelConfig, training: Training) -> float:
    """Return the floating-point operations of a training's matrix products.

    Source and target tokens may differ in number: what depends on the length of a sentence is
    counted for sentences of ``length`` tokens on both sides, everything else for each token.
    """
    length = max(1, round(training.length))
    whole = pass_work(config, length, length).total
    source = pass_work(config, length, 0).total
    each_source, each_target = source / length, (whole - source) / length
    work = each_source * training.source_tokens + each_target * training.target_tokens
    return PER_MULTIPLY_ADD * work * training.updates


PAPER_BATCH = Training(updates=100_000, source_tokens=25_000, target_tokens=25_000)
"""The base model's training (sections 5.1 and 5.2); sentences of 25 tokens are our assumption."""


def paper_training(name: str) -> Training:
    """Return how much the paper's own training of "base" or "big" read."""
    return replace(PAPER_BATCH, updates=_PAPER_UPDATES[name])


def training_of(settings: Mapping[str, Any]) -> Training:
    """Return a training as its settings allow at most: every batch full.

    Raises:
        UserError: they lack the number of updates or the size of batches.
    """
    try:
        batches = int(settings.get("accumulation", 1))
        return Training(
            updates=int(settings["steps"]),
            source_tokens=float(settings["source_batch_tokens"]) * batches,
            target_tokens=float(settings["target_batch_tokens"]) * batches,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            "The settings of this training lack its updates or batches; give --updates, "
            "--source-tokens and --target-tokens with a preset of its shape."
        ) from error


_PAPER_UPDATES = {"base": 100_000, "big": 300_000}

PAPER_TIMES = {
    "base": GpuTime(hours=12, gpus=8, gpu="P100"),
    "big": GpuTime(hours=84, gpus=8, gpu="P100"),
}
"""Section 5.2: 12 hours, and 3.5 days."""
