"""What a run's metrics.jsonl tells, as the curves show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a chart.

    Attributes:
        key: in metrics.jsonl.
        measured: now and then, at a validation.
        noisy: worth smoothing.
        exponential: exp of the value is shown.
        otherwise: shown in its place in runs that do not have the key.
    """

    key: str
    name: str
    measured: bool = False
    noisy: bool = False
    exponential: bool = False
    otherwise: Part | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A chart of one metric; `explanation` is the sentence below it, `unit` is along its axis."""

    id: str
    name: str
    unit: str
    explanation: str
    parts: tuple[Part, ...]


METRICS = (
    Metric(
        "loss",
        "Loss",
        "nats per token",
        "Negative log-likelihood without label smoothing. Training: with dropout, mean since the "
        "previous line; validation: without dropout.",
        (
            Part(
                "train_nll",
                "training",
                noisy=True,
                otherwise=Part("train_loss", "training, smoothed targets", noisy=True),
            ),
            Part("valid_loss", "validation", measured=True),
        ),
    ),
    Metric(
        "perplexity",
        "Perplexity",
        "per token",
        "exp(loss): the number of equally likely tokens that would be as hard to choose from.",
        (
            Part("train_nll", "training", noisy=True, exponential=True),
            Part("perplexity", "validation", measured=True),
        ),
    ),
    Metric(
        "bleu",
        "BLEU",
        "BLEU",
        "sacreBLEU of greedy translations of the validation sentences.",
        (Part("bleu", "validation", measured=True),),
    ),
    Metric(
        "chrf",
        "chrF",
        "chrF",
        "Character n-gram F-score of the same translations.",
        (Part("chrf", "validation", measured=True),),
    ),
    Metric(
        "learning_rate",
        "Learning rate",
        "learning rate",
        "Rises during warm-up, then falls with 1/√step (the paper, equation 3).",
        (Part("learning_rate", "learning rate"),),
    ),
    Metric(
        "speed",
        "Tokens per second",
        "target tokens/s",
        "Target tokens without padding, over the time of the steps alone.",
        (Part("tokens_per_second", "tokens/s", noisy=True),),
    ),
    Metric(
        "gradient",
        "Gradient norm",
        "norm",
        "Euclidean norm of the whole gradient, before clipping.",
        (Part("gradient_norm", "gradient norm", noisy=True),),
    ),
    Metric(
        "objective",
        "Training objective",
        "nats per token",
        "Cross-entropy with smoothed targets, which training minimises (the paper, section 5.4).",
        (Part("train_loss", "training", noisy=True),),
    ),
    Metric(
        "gloss",
        "Gloss loss",
        "nats per word",
        "Loss of predicting the German form of glossed words from the encoder's outputs.",
        (Part("gloss_loss", "gloss loss", noisy=True),),
    ),
    Metric(
        "cosine",
        "Position cosine",
        "cosine",
        "Cosine between the encoder's outputs at different positions; near 1 the encoder has "
        "collapsed.",
        (Part("position_cosine", "position cosine", noisy=True),),
    ),
)


def smoothed(values: Floats, weight: float) -> Floats:
    """Return an exponential moving average, without the pull towards 0 at its start.

    sₜ = w·sₜ₋₁ + (1 − w)·vₜ from s₀ = 0, divided by 1 − wᵗ. A value that is not a number is left
    out and stays a gap.
    """
    result = np.full_like(values, np.nan)
    state, share = 0.0, 0.0
    for index in np.flatnonzero(np.isfinite(values)):
        state = weight * state + (1 - weight) * values[index]
        share = weight * share + (1 - weight)
        result[index] = state / share
    return result
