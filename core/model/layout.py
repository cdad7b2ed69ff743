"""How weights lie in memory."""

from __future__ import annotations

from torch import nn


def column_major(model: nn.Module) -> None:
    """Store the matrix W of each linear layer column by column; values and shapes stay.

    x Wᵀ, for the few rows x of a decoding step, then runs over memory in order: up to half as
    fast again on a CPU. With many rows, as in training, nothing changes.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight.data = module.weight.data.t().contiguous().t()
