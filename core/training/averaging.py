"""The mean of the last checkpoints (paper, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from core.checkpoints.native import Checkpoint, fill, load_checkpoint
from core.errors import UserError


def average_checkpoints(paths: Sequence[Path]) -> Checkpoint:
    """Return a model whose every weight is the mean over the checkpoints, summed in float64.

    Provenance, tokenizer and configuration are those of the last one.

    Raises:
        UserError: there is no checkpoint, one cannot be read, or they are of different models.
    """
    if not paths:
        raise UserError("There is no checkpoint to average; wait until the run has saved one.")
    result = load_checkpoint(paths[-1])
    sums = {name: weight.detach().double() for name, weight in result.model.named_parameters()}
    for path in paths[:-1]:
        other = load_checkpoint(path)
        same_vocabulary = other.tokenizer.identity == result.tokenizer.identity
        if other.config != result.config or not same_vocabulary:
            raise UserError(
                f"{path} and {paths[-1]} cannot be averaged: they differ in shape or vocabulary."
            )
        for name, weight in other.model.named_parameters():
            sums[name] += weight.detach().double()
    means = {name: (total / len(paths)).to(torch.float32) for name, total in sums.items()}
    fill(result.model, means, "the average")
    return result
