"""Mamba: a state space whose step, input and reading depend on the input (Gu & Dao 2023).

Legend: B batch, n positions, d d_model, D = 2d inner width, N numbers of state of each channel,
R rank of the step's projection.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Bidirectional, Mixer, State

_TAPS = 4  # of the short convolution
_SLOWEST, _FASTEST = 1e-3, 0.1  # Δ at first


class _Scan(torch.autograd.Function):
    """h_t = a_t h_{t−1} + b_t, time first; its gradient is the same recurrence, backwards."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        h = torch.empty_like(b)
        h[0] = b[0]
        for t in range(1, len(a)):
            torch.addcmul(b[t], a[t], h[t - 1], out=h[t])
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        a, h = ctx.saved_tensors
        g = gradients[0].clone(memory_format=torch.contiguous_format)
        for t in range(len(a) - 2, -1, -1):
            g[t].addcmul_(a[t + 1], g[t + 1])
        of_a = torch.empty_like(a)
        of_a[0] = 0
        torch.mul(g[1:], h[:-1], out=of_a[1:])
        return of_a, g


def scan(a: Tensor, b: Tensor) -> Tensor:
    """Return h with h_t = a_t h_{t−1} + b_t and h_{−1} = 0; all [n, …], time first."""
    found: Tensor = _Scan.apply(a, b)  # type: ignore[no-untyped-call]
    return found


def selective_scan(u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Return y_t = C_t h_t with h_t = e^{Δ_t A} h_{t−1} + Δ_t B_t u_t.

    u, delta [B, n, D], a [D, N], b and c [B, n, N] → [B, n, D].
    """
    step, taken = delta.transpose(0, 1), (delta * u).transpose(0, 1)  # [n, B, D]
    decay = torch.exp(step[..., None] * a)  # [n, B, D, N]
    h = scan(decay, taken[..., None] * b.transpose(0, 1)[:, :, None])
    return (h @ c.transpose(0, 1)[..., None])[..., 0].transpose(0, 1)


class SelectiveStateSpace(Mixer):
    """A short convolution, the selective scan, and a gate, between two projections."""

    causal = True
    carries = True

    def __init__(self, d_model: int, state: int) -> None:
        super().__init__()
        inner, self.rank, self.state_size = 2 * d_model, -(-d_model // 16), state
        self.inner = inner
        self.input = nn.Linear(d_model, 2 * inner, bias=False)
        self.convolution = nn.Conv1d(inner, inner, _TAPS, groups=inner)
        self.select = nn.Linear(inner, self.rank + 2 * state, bias=False)
        self.step_size = nn.Linear(self.rank, inner)
        self.log_decay = nn.Parameter(torch.log(torch.arange(1.0, state + 1)).repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))
        self.output = nn.Linear(inner, d_model, bias=False)
        with torch.no_grad():
            nn.init.uniform_(self.step_size.weight, -(self.rank**-0.5), self.rank**-0.5)
            first = torch.empty(inner).uniform_(math.log(_SLOWEST), math.log(_FASTEST)).exp()
            self.step_size.bias.copy_(first + torch.log(-torch.expm1(-first)))  # softplus⁻¹

    def _selected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x […, D] → Δ […, D], B and C […, N]."""
        sizes = [self.rank, self.state_size, self.state_size]
        low, b, c = self.select(x).split(sizes, -1)
        return F.softplus(self.step_size(low)), b, c

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """Padding comes last, so that no real position reads it."""
        u, z = self.input(x).chunk(2, -1)
        row = F.pad(u.transpose(1, 2), (_TAPS - 1, 0))
        u = F.silu(self.convolution(row)).transpose(1, 2)
        y = selective_scan(u, *self._with_decay(u)) + self.skip * u
        mixed: Tensor = self.output(y * F.silu(z))
        return mixed

    def _with_decay(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        delta, b, c = self._selected(u)
        return delta, -torch.exp(self.log_decay), b, c

    def start_state(self, batch: int) -> State:
        return (
            self.anchor.new_zeros(batch, self.inner, _TAPS - 1),
            self.anchor.new_zeros(batch, self.inner, self.state_size),
        )

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is the last 3 inputs of the convolution, [B, D, 3], and h, [B, D, N]."""
        u, z = self.input(x).chunk(2, -1)
        row = torch.cat([state[0], u[..., None]], 2)
        u = F.silu(self.convolution(row)[..., 0])
        delta, a, b, c = self._with_decay(u)
        h = torch.exp(delta[..., None] * a) * state[1] + (delta * u)[..., None] * b[:, None]
        y = (h @ c[..., None])[..., 0] + self.skip * u
        return self.output(y * F.silu(z)), (row[..., 1:], h)

    def multiply_adds(self, n: int) -> int:
        d, inner, size = self.input.in_features, self.inner, self.state_size
        products = 3 * d * inner + inner * (self.rank + 2 * size) + self.rank * inner
        taps = sum(max(0, n - shift) for shift in range(_TAPS)) * inner
        # Δu, its product with B, ΔA, e^{ΔA} h and C h; D u and the gate
        scanned = inner + 4 * inner * size + 2 * inner
        return n * (products + scanned) + taps

    def sequential(self, n: int) -> int:
        return n


def mamba(shape: MixerShape, *, causal: bool, layer: int = 0) -> Mixer:
    """Build a Mamba block with N = `shape.state`."""

    def make() -> Mixer:
        return SelectiveStateSpace(shape.d_model, shape.state)

    return make() if causal else Bidirectional(make)
