"""Positional encodings (paper section 3.5), and rotary ones.

Legend: n positions, D d_model, d_k width of a query or key.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor, nn

from core.config import ModelConfig
from core.errors import UserError


def wavelength_exponents(d_model: int, denominator: str) -> Tensor:
    """The exponent of each sine-cosine pair, [D/2] float64: 2i/d_model or i/(d_model/2 - 1)."""
    pair = torch.arange(d_model // 2, dtype=torch.float64)
    return 2 * pair / d_model if denominator == "d_model" else pair / (d_model // 2 - 1)


def sinusoid_table(
    start: int, end: int, d_model: int, layout: str = "interleaved", denominator: str = "d_model"
) -> Tensor:
    """Return PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(same).

    Args:
        start, end: positions start … end - 1.
        layout: "interleaved" as above, or "halves": all sines, then all cosines.
        denominator: see ``ModelConfig.position_denominator``.

    Returns:
        [end - start, D] float32, computed in float64.
    """
    position = torch.arange(start, end, dtype=torch.float64)
    angle = position[:, None] / 10000.0 ** wavelength_exponents(d_model, denominator)  # [n, D/2]
    pair = (angle.sin(), angle.cos())
    table = torch.stack(pair, dim=-1).flatten(1) if layout == "interleaved" else torch.cat(pair, -1)
    return table.float()


class SinusoidalPositions(nn.Module):
    """The table grows on demand; it is recomputed, never saved."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layout = config.position_layout
        self.denominator = config.position_denominator
        self.is_half = config.position_precision == "float16"
        self.d_model = config.d_model
        self.register_buffer("table", self._table(256), persistent=False)
        self.table: Tensor

    def _table(self, length: int) -> Tensor:
        table = sinusoid_table(0, length, self.d_model, self.layout, self.denominator)
        return table.half().float() if self.is_half else table

    def forward(self, start: int, end: int) -> Tensor:
        """Return the encodings of positions start … end − 1: [end − start, D]."""
        if end > len(self.table):
            # An inference tensor would be of no use to a later training step.
            with torch.inference_mode(False):
                grown = self._table(max(end, 2 * len(self.table)))
                self.table = grown.to(self.table)
        return self.table[start:end]


class LearnedPositions(nn.Module):
    """One trained vector for each of ``max_positions`` positions (table 3, row E)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(config.max_positions, config.d_model))
        nn.init.normal_(self.weight, std=config.d_model**-0.5)

    def forward(self, start: int, end: int) -> Tensor:
        """Return the encodings of positions start … end − 1: [end − start, D].

        Raises:
            UserError: the text is longer than the table.
        """
        if end > len(self.weight):
            raise UserError(
                f"This model has learned {len(self.weight)} positions, but the text has {end} "
                "tokens; shorten the text or use a model with sinusoidal positions."
            )
        return self.weight[start:end]


class NoPositions(nn.Module):
    """Encodings of zeros: nothing is added for the position, as with rotary positions or none."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("zero", torch.zeros(1, d_model), persistent=False)
        self.zero: Tensor

    def forward(self, start: int, end: int) -> Tensor:
        """Return zeros, [end − start, D]."""
        return self.zero.expand(end - start, -1)


class RotaryPositions(nn.Module):
    """Turns queries and keys by their position (Su et al. 2021, RoFormer, equation 34).

    Columns 2i and 2i + 1 are a point of the plane, which position p turns by
    p / 10000^(2i / d_k) radians. So a product q · k depends on the content of both and on their
    distance alone. Like the table of sinusoids, the angles grow on demand and are never saved.
    """

    def __init__(self, width: int) -> None:
        """``width``: d_k, an even number."""
        super().__init__()
        self.width = width
        self.register_buffer("table", sinusoid_table(0, 256, width), persistent=False)
        self.table: Tensor  # [n, d_k], the sine and cosine of each angle in turn

    def forward(self, x: Tensor) -> Tensor:
        """Turn x [..., n, d_k], whose rows are at the positions 0 … n - 1."""
        return self._turned(x, 0, x.shape[-2])

    def at(self, x: Tensor, position: int) -> Tensor:
        """Turn x [..., n, d_k], whose rows are all at one position."""
        return self._turned(x, position, position + 1)

    def _turned(self, x: Tensor, start: int, end: int) -> Tensor:
        if end > len(self.table):
            with torch.inference_mode(False):
                grown = sinusoid_table(0, max(end, 2 * len(self.table)), self.width)
                self.table = grown.to(self.table)
        angles = self.table[start:end]
        sine, cosine = angles[:, 0::2], angles[:, 1::2]  # [n or 1, d_k/2]
        right, up = x[..., 0::2], x[..., 1::2]
        turned = torch.stack((right * cosine - up * sine, right * sine + up * cosine), dim=-1)
        return turned.flatten(-2)


Positions: TypeAlias = SinusoidalPositions | LearnedPositions | NoPositions
"""What is added to the embeddings."""


def positions(config: ModelConfig) -> Positions:
    if config.positions == "sinusoidal":
        return SinusoidalPositions(config)
    if config.positions == "learned":
        return LearnedPositions(config)
    return NoPositions(config.d_model)
