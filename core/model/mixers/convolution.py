"""Convolutions over positions: plain, gated as in ConvS2S, and dilated as in ByteNet.

Legend: B batch, n positions, D d_model, k width of the kernel.
"""

from __future__ import annotations

from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.mixers.kinds import MixerShape, dilation
from core.model.mixers.mixer import Mixer, State


class _Kernel(Mixer):
    """One convolution; what stands before and after it is up to the kinds."""

    def __init__(self, shape: MixerShape, outputs: int, inputs: int, dilation: int, causal: bool):
        super().__init__()
        self.causal = causal
        self.width = shape.d_model
        self.convolution = nn.Conv1d(inputs, outputs, shape.kernel, dilation=dilation)
        span = (shape.kernel - 1) * dilation
        self.padding = (span, 0) if causal else (span // 2, span - span // 2)

    def _before(self, x: Tensor) -> Tensor:
        """What is done to each position first: […, D] → […, inputs]."""
        return x

    def _after(self, y: Tensor) -> Tensor:
        """What is done to each position last: […, outputs] → […, D]."""
        return y

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        inner = self._before(x)
        if real is not None:
            inner = inner * real[..., None]
        row = F.pad(inner.transpose(1, 2), self.padding)
        return self._after(self.convolution(row).transpose(1, 2))

    def start_state(self, batch: int) -> State:
        if not self.causal:
            return super().start_state(batch)
        return (self.anchor.new_zeros(batch, self.convolution.in_channels, self.padding[0]),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is the last (k − 1) · dilation inputs of the kernel."""
        row = torch.cat([state[0], self._before(x)[..., None]], 2)
        return self._after(self.convolution(row)[..., 0]), (row[..., 1:],)

    def multiply_adds(self, n: int) -> int:
        """Counted without the products with zeros that lie outside the row."""
        convolution = self.convolution
        taps = 0
        for tap in range(convolution.kernel_size[0]):
            shift = tap * convolution.dilation[0] - self.padding[0]
            taps += max(0, n - abs(shift))
        return taps * convolution.in_channels * convolution.out_channels

    def sequential(self, n: int) -> int:
        return 1


class Convolution(_Kernel):
    """A convolution D → D of width k, as Table 1 of the paper counts it."""

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__(shape, shape.d_model, shape.d_model, 1, causal)


class GatedConvolution(_Kernel):
    """A convolution D → 2D, one half of it the gate of the other (Gehring et al. 2017)."""

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__(shape, 2 * shape.d_model, shape.d_model, 1, causal)
        nn.init.normal_(self.convolution.weight, std=sqrt(4 / (shape.kernel * shape.d_model)))
        assert self.convolution.bias is not None
        nn.init.zeros_(self.convolution.bias)

    def _after(self, y: Tensor) -> Tensor:
        return F.glu(y, -1)

    def multiply_adds(self, n: int) -> int:
        return super().multiply_adds(n) + n * self.width


class DilatedConvolution(_Kernel):
    """ByteNet's block: to half the width, a dilated convolution, back (Kalchbrenner et al. 2016).

    The dilation of layer l is 2^(l mod 5). A norm over channels and ReLU stand before each of the
    three.
    """

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        half = max(1, shape.d_model // 2)
        super().__init__(shape, half, half, dilation(layer), causal)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in (shape.d_model, half, half))
        self.inner, self.outer = nn.Linear(shape.d_model, half), nn.Linear(half, shape.d_model)

    def _before(self, x: Tensor) -> Tensor:
        inner = self.inner(F.relu(self.norms[0](x)))
        return F.relu(self.norms[1](inner))

    def _after(self, y: Tensor) -> Tensor:
        outer: Tensor = self.outer(F.relu(self.norms[2](y)))
        return outer

    def multiply_adds(self, n: int) -> int:
        return super().multiply_adds(n) + 2 * n * self.width * self.inner.out_features
