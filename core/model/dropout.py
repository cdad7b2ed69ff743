"""Residual dropout (paper section 5.4), with masks that cost little on a CPU."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_LEVELS = 1 << 16


class Dropout(nn.Module):
    """Zero each number with probability p and scale the rest by 1 / (1 − p), in training only.

    On a CPU, where torch draws one random double for each number, one 64-bit draw decides four:
    each takes 16 bits, so p is rounded to the nearest 1/65 536 (0.1 becomes 0.10001) and the
    scale follows the rounded p.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return x * self._mask(x)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x + dropout(y), which a CPU does in one go."""
        if not self.training or self.p == 0 or y.device.type != "cpu":
            return x + self.forward(y)
        return torch.addcmul(x, y, self._mask(y))

    def _mask(self, x: Tensor) -> Tensor:
        dropped = min(round(self.p * _LEVELS), _LEVELS - 1)
        draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64)
        draws.random_(-(1 << 63), None)
        sixteen_bits = draws.view(torch.int16)[: x.numel()].view(x.shape)
        # Numbers of 16 bits are exact in float32, where torch compares and scales many at a time.
        kept = sixteen_bits.to(torch.float32).ge_(dropped - _LEVELS // 2)
        return kept.to(x.dtype).mul_(_LEVELS / (_LEVELS - dropped))
