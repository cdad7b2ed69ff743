"""S4D: a diagonal linear state space in each channel (Gu et al. 2022).

Legend: B batch, n positions, D d_model, M = N / 2 complex modes of each channel, whose conjugates
are implied.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Bidirectional, Mixer, State

_BLOCK = 64  # positions of the kernel that are computed from one power
_SLOWEST, _FASTEST = 0.01, 0.5  # Δ, for rows as long as sentences


class DiagonalStateSpace(Mixer):
    """h_t = Ā h_{t−1} + B̄ u_t and y_t = 2 Re(C h_t) + D u_t, then a gated mixing of channels.

    Ā = e^{ΔA} and B̄ = (Ā − 1) / A (zero-order hold), with A = −½ + iπm at first. Over a whole row
    that is a convolution with K_l = 2 Re Σ C B̄ Ā^l, computed by FFT.
    """

    causal = True
    carries = True

    def __init__(self, d_model: int, modes: int) -> None:
        super().__init__()
        low, high = math.log(_SLOWEST), math.log(_FASTEST)
        self.log_step = nn.Parameter(torch.empty(d_model).uniform_(low, high))
        self.log_decay = nn.Parameter(torch.full((d_model, modes), math.log(0.5)))
        self.frequency = nn.Parameter(math.pi * torch.arange(modes).repeat(d_model, 1).float())
        self.read = nn.Parameter(torch.randn(d_model, modes, 2) * 0.5**0.5)  # C, as pairs
        self.skip = nn.Parameter(torch.randn(d_model))
        self.mix = nn.Linear(d_model, 2 * d_model)

    def _discrete(self) -> tuple[Tensor, Tensor]:
        """Return ΔA and C B̄, [D, M] each, complex."""
        a = torch.complex(-torch.exp(self.log_decay), self.frequency)
        step_a = torch.exp(self.log_step)[:, None] * a
        return step_a, torch.view_as_complex(self.read) * (torch.exp(step_a) - 1) / a

    def kernel(self, n: int) -> Tensor:
        """Return K, [D, n]."""
        step_a, weight = self._discrete()
        blocks = -(-n // _BLOCK)
        # Ā^(64 i + j) = Ā^(64 i) Ā^j, and the real part of a product is a product of pairs.
        starts, inside = (torch.arange(count, device=step_a.device) for count in (blocks, _BLOCK))
        coarse = weight[..., None] * torch.exp(step_a[..., None] * (_BLOCK * starts))  # [D, M, i]
        fine = torch.exp(step_a[..., None] * inside)  # [D, M, j]
        pairs = torch.cat([coarse.real, -coarse.imag], 1).transpose(1, 2)
        return 2 * (pairs @ torch.cat([fine.real, fine.imag], 1)).flatten(1)[:, :n]

    def convolved(self, u: Tensor) -> Tensor:
        """K * u + D u, u [B, n, D]; of twice the length, since a FFT would wrap around."""
        n = u.shape[1]
        row = u.transpose(1, 2)
        product = torch.fft.rfft(self.kernel(n), 2 * n) * torch.fft.rfft(row, 2 * n)
        y: Tensor = torch.fft.irfft(product, 2 * n)[..., :n].transpose(1, 2)
        return y + self.skip * u

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        return F.glu(self.mix(F.gelu(self.convolved(x))), -1)

    def start_state(self, batch: int) -> State:
        return (self.anchor.new_zeros(batch, *self.read.shape),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is h with C B̄ taken out of it: [B, D, M, 2], real and imaginary parts."""
        step_a, weight = self._discrete()
        h = torch.exp(step_a) * torch.view_as_complex(state[0]) + x[..., None]
        y = 2 * (weight * h).real.sum(-1) + self.skip * x
        return F.glu(self.mix(F.gelu(y)), -1), (torch.view_as_real(h),)

    def multiply_adds(self, n: int) -> int:
        """Of the form by FFT: a complex product is 4, a FFT of L numbers 2 L log₂ L."""
        d, modes = self.log_decay.shape
        length = 2 * n
        transforms = 3 * 2 * length * max(1, math.ceil(math.log2(length)))
        return d * (2 * modes * n + transforms + 4 * (n + 1) + n) + 2 * n * d * d + n * d

    def sequential(self, n: int) -> int:
        """Of the form by FFT: the levels of a transform there and one back."""
        return 2 * math.ceil(math.log2(2 * n))


def s4d(shape: MixerShape, *, causal: bool, layer: int = 0) -> Mixer:
    """Build S4D with N = `shape.state` numbers in each channel."""

    def make() -> Mixer:
        return DiagonalStateSpace(shape.d_model, max(1, shape.state // 2))

    return make() if causal else Bidirectional(make)
