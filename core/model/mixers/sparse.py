"""Attention to some positions only, computed in blocks and never as a full map.

Legend: B batch, n positions, H heads, d width of a head, D d_model = H·d; m blocks of c positions.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.attention import SelfAttention, attend
from core.model.mixers.kinds import MixerShape
from core.model.mixers.mixer import Mixer, State, projected

_LEAST_BLOCK = 16  # positions; smaller ones gain nothing


def blocks_of(x: Tensor, size: int, step: int, count: int, start: int) -> Tensor:
    """Cut x [B, H, n, d] into `count` overlapping blocks of `size`, zeros outside the row.

    Block i begins at position start + i·step. Returns [B·m, H, size, d].
    """
    n = x.shape[2]
    after = max(0, start + (count - 1) * step + size - n)
    padded = F.pad(x, (0, 0, -start, after))
    cut = padded.unfold(2, size, step)[:, :, :count]  # [B, H, m, d, size]
    return cut.permute(0, 2, 1, 4, 3).flatten(0, 1)


def attend_band(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    before: int,
    after: int,
    real: Tensor,
    extra: tuple[Tensor, Tensor, int] | None = None,
) -> Tensor:
    """Attend from i to positions i − before … i + after; everything [B, H, n, d], real [B, n].

    ``extra`` holds the keys and values [B, H, g, d] of the first g positions, which every query
    sees too; they then count once only.
    """
    batch, heads, n, d = query.shape
    c = max(before + after, _LEAST_BLOCK)
    m = -(-n // c)
    size = c + before + after
    queries = blocks_of(query, c, c, m, 0)
    keys, values = (blocks_of(x, size, c, m, -before) for x in (key, value))
    place = torch.arange(size, device=query.device)
    offset = place - before - torch.arange(c, device=query.device)[:, None]  # [c, size]
    band = (offset >= -before) & (offset <= after)
    seen = real
    if extra is not None:
        seen = real.clone()
        seen[:, : extra[2]] = False
    inside = blocks_of(seen[:, None, :, None].to(query.dtype), size, c, m, -before)
    allowed = band & inside.transpose(2, 3).bool()  # [B·m, 1, c, size]
    if extra is not None:
        g = extra[2]
        keys, values = (
            torch.cat([first.repeat_interleave(m, 0), rest], 2)
            for first, rest in zip(extra[:2], (keys, values), strict=True)
        )
        ahead = real[:, None, None, :g].repeat_interleave(m, 0).expand(-1, 1, c, g)
        allowed = torch.cat([ahead, allowed], 3)
    found = attend(queries, keys, values, allowed)  # [B·m, H, c, d]
    found = found.view(batch, m, heads, c, d).transpose(1, 2)
    return found.reshape(batch, heads, m * c, d)[:, :, :n]


def _all_real(x: Tensor, real: Tensor | None) -> Tensor:
    return torch.ones(x.shape[:2], dtype=torch.bool, device=x.device) if real is None else real


def _block(shape: MixerShape) -> SelfAttention:
    return SelfAttention(shape.d_model, range(shape.heads), shape.d_head, shape.d_head, bias=True)


class Restricted(Mixer):
    """Attention to the r positions around each one, or to the last r (section 4 of the paper)."""

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__()
        self.causal = causal
        self.block = _block(shape)
        r = shape.neighbours
        self.before, self.after = (r - 1, 0) if causal else (r // 2, (r - 1) // 2)

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        query, key, value = projected(self.block, x)
        seen = _all_real(x, real)
        return self.block.merge(attend_band(query, key, value, self.before, self.after, seen))

    def start_state(self, batch: int) -> State:
        empty = self.anchor.new_empty(batch, len(self.block.heads), 0, self.block.d_k)
        return empty, empty

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The state is the last r − 1 keys and values."""
        query, key, value = projected(self.block, x[:, None])
        keys, values = torch.cat([state[0], key], 2), torch.cat([state[1], value], 2)
        y = self.block.merge(attend(query, keys, values))[:, 0]
        kept = max(0, keys.shape[2] - self.before)
        return y, (keys[:, :, kept:], values[:, :, kept:])

    def multiply_adds(self, n: int) -> int:
        d = len(self.block.heads) * self.block.d_k
        return 4 * n * d * d + 2 * d * band_pairs(n, self.before, self.after)

    def sequential(self, n: int) -> int:
        return 1


def band_pairs(n: int, before: int, after: int) -> int:
    """Count the pairs (i, j) of n positions with −before ≤ j − i ≤ after."""
    left, right = min(before, n - 1), min(after, n - 1)
    below = left * n - left * (left + 1) // 2
    above = right * n - right * (right + 1) // 2
    return n + below + above


class Longformer(Mixer):
    """A window, and g first positions that see and are seen by all (Beltagy et al. 2020).

    The global positions have projections of their own, for what they ask and for what they read.
    """

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__()
        self.causal = causal
        self.block = _block(shape)
        self.far = nn.Linear(shape.d_model, 3 * shape.d_model)
        self.before, self.after = shape.neighbours // 2, (shape.neighbours - 1) // 2
        self.globals = shape.globals

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        seen = _all_real(x, real)
        g = min(self.globals, x.shape[1])
        query, key, value = projected(self.block, x)
        first = key[:, :, :g], value[:, :, :g], g
        near = attend_band(query, key, value, self.before, self.after, seen, first)
        far = self.far_projected(x)
        wide = attend(far[0][:, :, :g], *far[1:], seen[:, None, None, :])
        return self.block.merge(torch.cat([wide, near[:, :, g:]], 2))

    def far_projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the queries, keys and values [B, H, n, d] of what the global positions see."""
        query, key, value = (
            self.block.split(part, self.block.d_k) for part in self.far(x).chunk(3, -1)
        )
        return query, key, value

    def multiply_adds(self, n: int) -> int:
        d = len(self.block.heads) * self.block.d_k
        g = min(self.globals, n)
        # Pairs of the band whose query and key are both no global position: those of n − g.
        near = band_pairs(n - g, self.before, self.after) if n > g else 0
        pairs = near + g * (n - g) + g * n
        return 7 * n * d * d + 2 * d * pairs  # two times q, k and v, and the output

    def sequential(self, n: int) -> int:
        return 1


class BigBird(Mixer):
    """Blocks that see their neighbours, g first blocks and one random block (Zaheer et al. 2020).

    The random blocks follow from the number of the layer, so that they are the same each time.
    """

    def __init__(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> None:
        super().__init__()
        self.causal = causal
        self.block = _block(shape)
        self.size, self.globals, self.layer = shape.blocks, shape.globals, layer

    def table(self, m: int, there: int | None = None) -> Tensor:
        """Return the blocks that each of m blocks reads, [m, g + 4]; −1 for none.

        The columns are the g global blocks, three neighbours, and a random one of the rest. Only
        the first `there` blocks are read, all of them by default; the others are padding.
        """
        there = m if there is None else there
        g = min(self.globals, m)
        own, other = torch.arange(m)[:, None], torch.arange(m)
        near = own + torch.tensor([-1, 0, 1])
        near = torch.where((near >= g) & (near < there), near, -1)
        # A draw for each pair that does not depend on how many blocks there are.
        drawn = (own * 0x9E3779B1 + other * 0x85EBCA6B + (self.layer + 1) * 0xC2B2AE35) % 2**31
        drawn = (drawn ^ drawn >> 15) * 0x2C1B3C6D % 2**31
        drawn = drawn ^ drawn >> 12
        taken = (other < g) | ((own - other).abs() <= 1) | (other >= there)
        drawn = drawn.masked_fill(taken, -1)
        random = torch.where(drawn.amax(1) < 0, -1, drawn.argmax(1))
        return torch.cat([torch.arange(g).expand(m, g), near, random[:, None]], 1)

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        batch, n, _ = x.shape
        c, m = self.size, -(-n // self.size)
        g = min(self.globals, m)
        seen = _all_real(x, real)
        query, key, value = projected(self.block, x)
        queries, keys, values = (blocks_of(part, c, c, m, 0) for part in (query, key, value))
        inside = blocks_of(seen[:, None, :, None].to(x.dtype), c, c, m, 0).bool()
        lengths = [n] if real is None else real.sum(1).tolist()
        table = torch.stack([self.table(m, -(-length // c)) for length in lengths])
        table = table.to(x.device).expand(batch, -1, -1)  # [B, m, g + 4]
        row = torch.arange(batch, device=x.device)[:, None, None]
        picked = table.clamp(min=0)

        def gathered(part: Tensor) -> Tensor:
            """[B·m, H, c, w] → [B·m, H, (g + 4)·c, w], the blocks that each block reads."""
            by_row = part.view(batch, m, *part.shape[1:])[row, picked]  # [B, m, g + 4, H, c, w]
            return by_row.transpose(2, 3).flatten(3, 4).flatten(0, 1)

        there = (table >= 0).flatten(0, 1).repeat_interleave(c, 1)[:, None, None, :]
        allowed = gathered(inside).transpose(2, 3) & there
        near = attend(queries, gathered(keys), gathered(values), allowed)
        heads, d = near.shape[1], near.shape[3]
        near = near.view(batch, m, heads, c, d).transpose(1, 2).reshape(batch, heads, m * c, d)
        first = min(g * c, n)
        wide = attend(query[:, :, :first], key, value, seen[:, None, None, :])
        return self.block.merge(torch.cat([wide, near[:, :, first:n]], 2))

    def multiply_adds(self, n: int) -> int:
        d = len(self.block.heads) * self.block.d_k
        m = -(-n // self.size)
        g = min(self.globals, m)
        widths = [min(self.size, n - at * self.size) for at in range(m)]
        pairs = sum(widths[at] for at in range(g)) * n
        for at, row in enumerate(self.table(m).tolist()):
            if at >= g:
                pairs += widths[at] * sum(widths[to] for to in row if to >= 0)
        return 4 * n * d * d + 2 * d * pairs

    def sequential(self, n: int) -> int:
        return 1
