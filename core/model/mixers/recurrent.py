"""LSTM and GRU: torch's kernels over a row, and their cells written out for single steps.

Legend: B batch, n positions, D d_model, also the width of the state.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Bidirectional, Mixer, State


def lstm_cell(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """c' = σ(f) ⊙ c + σ(i) ⊙ tanh(g), h' = σ(o) ⊙ tanh(c').

    Args:
        gates: [B, 4D], W x + U h + b, in torch's order i, f, g, o; c: [B, D].

    Returns:
        h' and c', [B, D] each.
    """
    i, f, g, o = gates.chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru_cell(of_input: Tensor, of_state: Tensor, h: Tensor) -> Tensor:
    """h' = (1 − z) ⊙ n + z ⊙ h with n = tanh(W x + b + r ⊙ (U h + c)), as torch has it.

    The papers reset the state before the product, n = tanh(W x + U (r ⊙ h)).

    Args:
        of_input, of_state: [B, 3D], W x + b and U h + c, in the order r, z, n; h: [B, D].
    """
    r, z, n = of_input.chunk(3, -1)
    r_state, z_state, n_state = of_state.chunk(3, -1)
    r, z = torch.sigmoid(r + r_state), torch.sigmoid(z + z_state)
    return (1 - z) * torch.tanh(n + r * n_state) + z * h


class _Recurrent(Mixer):
    """A row read from its start to its end."""

    causal = True
    carries = True
    _gates: int

    def __init__(self, network: nn.LSTM | nn.GRU) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """Padding comes last, so that no real position reads it."""
        y: Tensor = self.network(x)[0]
        return y

    def _products(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """W x + b and U h + c."""
        of_input, of_state, bias, state_bias = self.network.all_weights[0]
        return F.linear(x, of_input, bias), F.linear(h, of_state, state_bias)

    def multiply_adds(self, n: int) -> int:
        d = self.network.hidden_size
        updates = 3  # f ⊙ c, i ⊙ g and o ⊙ tanh(c); r ⊙ U h, (1 − z) ⊙ n and z ⊙ h
        return n * (2 * self._gates * d * d + updates * d)

    def sequential(self, n: int) -> int:
        return n


class _LSTM(_Recurrent):
    _gates = 4

    def start_state(self, batch: int) -> State:
        zeros = self.anchor.new_zeros(batch, self.network.hidden_size)
        return zeros, zeros

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is h and c, [B, D] each."""
        of_input, of_state = self._products(x, state[0])
        h, c = lstm_cell(of_input + of_state, state[1])
        return h, (h, c)


class _GRU(_Recurrent):
    _gates = 3

    def start_state(self, batch: int) -> State:
        return (self.anchor.new_zeros(batch, self.network.hidden_size),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is h, [B, D]."""
        h = gru_cell(*self._products(x, state[0]), state[0])
        return h, (h,)


def lstm(shape: MixerShape, *, causal: bool, layer: int = 0) -> Mixer:
    """Build an LSTM (Hochreiter & Schmidhuber 1997) whose forget gate begins open, with bias 1."""

    def make() -> Mixer:
        network = nn.LSTM(shape.d_model, shape.d_model, batch_first=True)
        with torch.no_grad():
            for bias, value in zip(network.all_weights[0][2:], (1.0, 0.0), strict=True):
                bias[shape.d_model : 2 * shape.d_model] = value
        return _LSTM(network)

    return make() if causal else Bidirectional(make)


def gru(shape: MixerShape, *, causal: bool, layer: int = 0) -> Mixer:
    """Build a gated recurrent unit (Cho et al. 2014)."""

    def make() -> Mixer:
        return _GRU(nn.GRU(shape.d_model, shape.d_model, batch_first=True))

    return make() if causal else Bidirectional(make)
