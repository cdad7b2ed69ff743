"""Mamba: a state space whose step, input and reading depend on the input (Gu & Dao 2023).

Legend: B batch, n positions, d d_model, D = 2d inner width, N numbers of state of each channel,
R rank of the step's projection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Bidirectional, Mixer, State

_TAPS = 4  # of the short convolution
_CHUNK = 16  # positions
_SLOWEST, _FASTEST = 1e-3, 0.1  # Δ at first


class _SelectiveScan(torch.autograd.Function):
    """The scan in chunks that fit a processor's cache, time first.

    Only the state before each chunk is kept; the backward pass computes the others again.
    """

    @staticmethod
    def forward(ctx: Any, u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        y = torch.empty_like(u)
        h = u.new_zeros(*u.shape[1:], a.shape[1])
        starts = []
        for part in _chunks(len(u)):
            starts.append(h)
            _decay, states = _states(h, u[part], delta[part], a, b[part])
            torch.matmul(states, c[part][..., None], out=y[part][..., None])
            h = states[-1].clone()
        ctx.save_for_backward(u, delta, a, b, c, torch.stack(starts))
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        """g_t = C_t ȳ_t + e^{Δ_{t+1} A} g_{t+1} is the gradient by h_t; all others follow."""
        u, delta, a, b, c, starts = ctx.saved_tensors
        of_y = gradients[0]
        of_u, of_delta, of_b, of_c = (torch.empty_like(one) for one in (u, delta, b, c))
        of_a = torch.zeros_like(a)
        later = torch.zeros_like(starts[0])
        chunks = list(_chunks(len(u)))
        for part, start in zip(reversed(chunks), reversed(starts.unbind()), strict=True):
            decay, states = _states(start, u[part], delta[part], a, b[part])
            g = of_y[part][..., None] * c[part][:, :, None]
            of_c[part] = (of_y[part][:, :, None] @ states)[:, :, 0]
            g[-1] += later
            for t in range(len(g) - 2, -1, -1):
                g[t].addcmul_(decay[t + 1], g[t + 1])
            later = decay[0] * g[0]
            taken = delta[part] * u[part]
            of_b[part] = (taken[:, :, None] @ g)[:, :, 0]
            of_taken = (g @ b[part][..., None])[..., 0]
            before = torch.cat([start[None], states[:-1]])
            of_exponent = decay.mul_(g).mul_(before)  # of Δ A
            of_u[part] = of_taken * delta[part]
            of_delta[part] = torch.einsum("tbdn,dn->tbd", of_exponent, a) + of_taken * u[part]
            of_a += (of_exponent * delta[part][..., None]).sum((0, 1))
        return of_u, of_delta, of_a, of_b, of_c


def _chunks(n: int) -> Iterator[slice]:
    for start in range(0, n, _CHUNK):
        yield slice(start, min(n, start + _CHUNK))


def _states(h: Tensor, u: Tensor, delta: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return e^{Δ_t A} and h_t for a chunk that begins after h; [t, B, D, N] each."""
    decay = torch.exp_(delta[..., None] * a)
    states = (delta * u)[..., None] * b[:, :, None]
    for t in range(len(states)):
        h = states[t].addcmul_(decay[t], h)
    return decay, states


def selective_scan(u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Return y_t = C_t h_t with h_t = e^{Δ_t A} h_{t−1} + Δ_t B_t u_t.

    u, delta [B, n, D], a [D, N], b and c [B, n, N] → [B, n, D].
    """
    rows = [part.transpose(0, 1).contiguous() for part in (u, delta, b, c)]
    y: Tensor = _SelectiveScan.apply(rows[0], rows[1], a, rows[2], rows[3])  # type: ignore[no-untyped-call]
    return y.transpose(0, 1)


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
