"""What follows from the settings of a training alone: its learning rate, and what label smoothing
asks for (sections 5.3 and 5.4)."""

from __future__ import annotations

import math

from core.training.config import RunConfig
from core.training.schedule import learning_rate


def rate_at(config: RunConfig, update: int) -> float:
    """Return the learning rate of an update, counted from 1."""
    training = config.training
    return learning_rate(
        update,
        d_model=config.model.d_model,
        warmup=training.warmup,
        factor=training.peak_factor,
        total=training.steps,
        cooldown=training.cooldown,
    )


def smoothed_target(smoothing: float, vocabulary: int) -> tuple[float, float]:
    """Return the probability that the right piece is to get, and that of each other piece.

    ε is spread evenly over all V pieces, the right one included.
    """
    each = smoothing / vocabulary
    return 1 - smoothing + each, each


def least_loss(smoothing: float, vocabulary: int) -> float:
    """Return the lowest smoothed loss of a token, in nats: the entropy of its target, which a model
    reaches by predicting exactly that."""
    right, each = smoothed_target(smoothing, vocabulary)
    return _share(right) + (vocabulary - 1) * _share(each)


def perplexity_there(smoothing: float, vocabulary: int) -> float:
    """Return the perplexity of such a model: it gives every right piece the same probability."""
    return 1 / smoothed_target(smoothing, vocabulary)[0]


def _share(probability: float) -> float:
    return -probability * math.log(probability) if probability > 0 else 0.0
