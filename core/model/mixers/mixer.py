"""What every mixer offers, and what makes one that reads forwards read both ways.

Legend: B batch, n positions, D d_model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from core.model.attention import SelfAttention

State: TypeAlias = tuple[Tensor, ...]
"""What a mixer remembers between steps; the first dimension of each tensor is the batch."""


class Mixer(nn.Module, ABC):
    """The part of a layer in which positions exchange something; all else is done to each alone.

    A causal mixer lets position i depend on positions 0 … i, and can be run step by step. Padding
    is at the end of a row; what a mixer returns for a padded position has no meaning.
    """

    causal: bool
    carries = False
    """Whether a path through the layer passes through a state at each position between."""

    @abstractmethod
    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """Mix x [B, n, D] → [B, n, D]; `real` [B, n] is False at padding, None without any."""

    def start_state(self, batch: int) -> State:
        """Return what is remembered before the first position.

        Raises:
            ValueError: this mixer reads both ways.
        """
        raise ValueError("only a causal mixer can go step by step")

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Mix the next position x [B, D] → [B, D], and return what to remember."""
        raise ValueError("only a causal mixer can go step by step")

    @abstractmethod
    def multiply_adds(self, n: int) -> int:
        """Count the multiplications of two numbers that depend on weights or input, for one row.

        Each comes with an addition. Biases, norms, softmax and activations are left out.
        """

    @abstractmethod
    def sequential(self, n: int) -> int:
        """Count the operations on positions that must wait for one another."""

    @property
    def anchor(self) -> Tensor:
        """Any weight: it says on which device and in which precision states are made."""
        return next(self.parameters())


def projected(block: SelfAttention, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Project x [B, n, D] → query, key and value, [B, H, n, d] each."""
    heads = block.project(x)
    return heads.query, heads.key, heads.value


def selected(state: State, rows: Tensor) -> State:
    """Let row i go on from what row `rows[i]` was, as beam search does; rows [B']."""
    return tuple(part.index_select(0, rows) for part in state)


def reversed_rows(x: Tensor, real: Tensor | None) -> Tensor:
    """Reverse each row [B, n, D] by its own length, so that padding stays at the end."""
    if real is None:
        return x.flip(1)
    places = torch.arange(x.shape[1], device=x.device)
    last = real.sum(1, keepdim=True) - 1  # [B, 1]
    order = torch.where(places <= last, last - places, places)
    return x.gather(1, order[..., None].expand_as(x))


class Bidirectional(Mixer):
    """The sum of a causal mixer over the row and of another one over the reversed row."""

    def __init__(self, make: Callable[[], Mixer]) -> None:
        super().__init__()
        self.causal = False
        self.forwards, self.backwards = make(), make()
        self.carries = self.forwards.carries

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        back = self.backwards(reversed_rows(x, real), real)
        both: Tensor = self.forwards(x, real) + reversed_rows(back, real)
        return both

    def multiply_adds(self, n: int) -> int:
        return self.forwards.multiply_adds(n) + self.backwards.multiply_adds(n)

    def sequential(self, n: int) -> int:
        return self.forwards.sequential(n)
