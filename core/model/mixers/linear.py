"""Attention in linear time: a feature map in place of softmax, and keys and values of low rank.

Legend: B batch, n positions, H heads, d width of a head, D d_model = H·d.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import UserError
from core.model.attention import SelfAttention, attend
from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Mixer, State, projected

_CHUNK = 64  # positions that are computed as a small full map


def feature(x: Tensor) -> Tensor:
    """φ(x) = elu(x) + 1, without the cancellation that makes it 0 for x below −20."""
    return torch.where(x >= 0, x + 1, torch.exp(x.clamp(max=0)))


def causal_sums(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return Σ_{j ≤ i} (q_i·k_j) v_j for each i, in chunks that hand on Σ k vᵀ.

    query, key [B, H, n, d], value [B, H, n, w] → [B, H, n, w].
    """
    n = query.shape[2]
    m = -(-n // _CHUNK)
    q, k, v = (
        F.pad(part, (0, 0, 0, m * _CHUNK - n)).view(*part.shape[:2], m, _CHUNK, part.shape[3])
        for part in (query, key, value)
    )
    inside = (q @ k.transpose(-1, -2)).tril() @ v
    sums = (k.transpose(-1, -2) @ v).cumsum(2)  # [B, H, m, d, w]
    before = torch.cat([torch.zeros_like(sums[:, :, :1]), sums[:, :, :-1]], 2)
    found: Tensor = (inside + q @ before).flatten(2, 3)[:, :, :n]
    return found


class LinearAttention(Mixer):
    """φ(q_i)ᵀ S / φ(q_i)ᵀ z with S = Σ φ(k_j) v_jᵀ and z = Σ φ(k_j) (Katharopoulos et al. 2020).

    The sums run over all positions, or over those up to i.
    """

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__()
        self.causal = causal
        d = shape.d_head
        self.block = SelfAttention(shape.d_model, range(shape.heads), d, d, bias=True)

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        query, key, value = projected(self.block, x)
        q, k = feature(query), feature(key)
        if real is not None:
            k = k * real[:, None, :, None]
        with_ones = F.pad(value, (0, 1), value=1.0)  # the sums of v and, last, the normaliser
        if self.causal:
            sums = causal_sums(q, k, with_ones)
        else:
            sums = q @ (k.transpose(-1, -2) @ with_ones)
        return self.block.merge(sums[..., :-1] / sums[..., -1:])

    def start_state(self, batch: int) -> State:
        heads, d = len(self.block.heads), self.block.d_k
        return (self.anchor.new_zeros(batch, heads, d, d + 1),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is S and, as its last column, z: [B, H, d, d + 1]."""
        query, key, value = projected(self.block, x[:, None])
        with_ones = F.pad(value, (0, 1), value=1.0)
        total = state[0] + feature(key).transpose(-1, -2) @ with_ones
        sums = feature(query) @ total
        return self.block.merge(sums[..., :-1] / sums[..., -1:])[:, 0], (total,)

    def multiply_adds(self, n: int) -> int:
        """As a recurrence; the chunks of the causal form compute a little more."""
        heads, d = len(self.block.heads), self.block.d_k
        return 4 * n * (heads * d) ** 2 + 2 * n * heads * d * (d + 1)

    def sequential(self, n: int) -> int:
        return -(-n // _CHUNK) if self.causal else 1


class Linformer(Mixer):
    """softmax(q (E K)ᵀ / √d) (G V), E and G of `rank` rows (Wang et al. 2020).

    Each row of E mixes all positions, so no mask can make it causal.
    """

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__()
        self.causal = causal
        d = shape.d_head
        self.block = SelfAttention(shape.d_model, range(shape.heads), d, d, bias=True)
        self.of_keys, self.of_values = (
            nn.Parameter(torch.randn(shape.rank, shape.longest) * shape.rank**-0.5)
            for _ in range(2)
        )

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """Mix x [B, n, D].

        Raises:
            UserError: n is beyond the positions that E has weights for.
        """
        n, longest = x.shape[1], self.of_keys.shape[1]
        if n > longest:
            raise UserError(f"This Linformer has weights for {longest:,} positions, not for {n:,}.")
        query, key, value = projected(self.block, x)
        if real is not None:
            key, value = (part * real[:, None, :, None] for part in (key, value))
        return self.block.merge(
            attend(query, self.of_keys[:, :n] @ key, self.of_values[:, :n] @ value)
        )

    def multiply_adds(self, n: int) -> int:
        d = len(self.block.heads) * self.block.d_k
        return 4 * n * d * d + 4 * n * d * len(self.of_keys)

    def sequential(self, n: int) -> int:
        return 1
