"""Full self-attention with four compatibility functions.

Legend: B batch, n positions, H heads, d width of a head, D d_model = H·d.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.model.attention import SelfAttention, attend
from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Mixer, State, projected


class Attention(Mixer):
    """Attention of all positions to all, or to those before; the model's own block inside.

    ``compatibility`` says how a query and a key give a score: ``scaled_dot`` q·k / √d, ``dot``
    q·k, ``general`` k·(W q) and ``additive`` vᵀ tanh(W_q q + W_k k), with a hidden layer of width d
    in each head (Bahdanau et al. 2015; section 3.2.1 of the paper).
    """

    def __init__(
        self, shape: MixerShape, *, causal: bool, layer: int = 0, compatibility: str = "scaled_dot"
    ) -> None:
        super().__init__()
        self.causal = causal
        heads, d = shape.heads, shape.d_head
        self.block = SelfAttention(shape.d_model, range(heads), d, d, bias=True)
        self.compatibility = compatibility
        self.scale = None if compatibility == "scaled_dot" else 1.0
        if compatibility in ("general", "additive"):
            self.query_weight = _matrix(heads, d)
        if compatibility == "additive":
            self.key_weight = _matrix(heads, d)
            self.score_weight = nn.Parameter(torch.empty(heads, d).uniform_(-1, 1) * (3 / d) ** 0.5)

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        query, key, value = projected(self.block, x)
        n = x.shape[1]
        allowed = None if real is None else real[:, None, None, :]
        causal = self.causal
        if causal and (allowed is not None or self.compatibility == "additive"):
            before = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
            allowed = before if allowed is None else allowed & before
            causal = False
        return self.block.merge(self._attend(query, key, value, allowed, causal))

    def start_state(self, batch: int) -> State:
        empty = self.anchor.new_empty(batch, len(self.block.heads), 0, self.block.d_k)
        return empty, empty

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is all keys and values so far, [B, H, n, d] each."""
        query, key, value = projected(self.block, x[:, None])
        keys, values = torch.cat([state[0], key], 2), torch.cat([state[1], value], 2)
        attended = self._attend(query, keys, values, None, causal=False)
        return self.block.merge(attended)[:, 0], (keys, values)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, causal: bool
    ) -> Tensor:
        """Query [B, H, m, d], key and value [B, H, n, d] → [B, H, m, d]."""
        if self.compatibility == "additive":
            query, key = query @ self.query_weight, key @ self.key_weight
            hidden = torch.tanh(query[:, :, :, None] + key[:, :, None])  # [B, H, m, n, d]
            scores = torch.einsum("bhmnd,hd->bhmn", hidden, self.score_weight)
            if allowed is not None:
                scores = scores.masked_fill(~allowed, float("-inf"))
            return torch.softmax(scores, -1) @ value
        if self.compatibility == "general":
            query = query @ self.query_weight
        return attend(query, key, value, allowed, causal=causal, scale=self.scale)

    def multiply_adds(self, n: int) -> int:
        heads, d = len(self.block.heads), self.block.d_k
        pairs = n * (n + 1) // 2 if self.causal else n * n
        # Each pair costs d for its score, the sum over the hidden layer included, and d for its
        # share of the value.
        matrices = {"general": 1, "additive": 2}.get(self.compatibility, 0)
        return 4 * n * (heads * d) ** 2 + 2 * pairs * heads * d + matrices * n * heads * d * d

    def sequential(self, n: int) -> int:
        return 1


def _matrix(heads: int, d: int) -> nn.Parameter:
    """Draw a d × d matrix for each head, after Glorot."""
    return nn.Parameter(torch.empty(heads, d, d).uniform_(-1, 1) * (3 / d) ** 0.5)
