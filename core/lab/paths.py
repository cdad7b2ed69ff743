"""What reaches what through real layers, found by impulses: gradients of outputs by inputs.

Legend: n positions, D d_model.
"""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.mixers.kinds import MixerKind, MixerShape
from core.model.mixers.mixer import Mixer

_HEADS, _D_MODEL = 2, 8  # what reaches what depends on neither
_DEEPEST = 4096


def influence(layers: nn.ModuleList, x: Tensor) -> Tensor:
    """Return the gradient of output i by input j, [n, n, D], for one row x [n, D].

    The layers stand in residuals, x + mixer(norm(x)); the norm keeps gates from saturating in deep
    stacks, where gradients would be exactly 0. The output at i is taken as a random sum of its
    channels, always the same one.
    """
    n, width = x.shape
    rows = x.detach().expand(n, n, width).clone().requires_grad_()  # one copy for each output
    y = rows
    for mixer in layers:
        y = y + mixer(F.layer_norm(y, (width,)))
    drawn = torch.Generator().manual_seed(0)
    mixed = y.diagonal().T @ torch.randn(width, generator=drawn, dtype=torch.float64).to(x)
    (gradient,) = torch.autograd.grad(mixed.sum(), rows)
    return gradient


def stack(kind: MixerKind, shape: MixerShape, depth: int, *, causal: bool) -> nn.ModuleList:
    """Build `depth` layers in double precision, with the same random weights each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = [kind.build(shape, causal=causal, layer=layer) for layer in range(depth)]
    return nn.ModuleList(layers).double().eval()


def path_length(kind: MixerKind, shape: MixerShape, n: int, *, causal: bool) -> int | None:
    """Measure the steps that connect all pairs of n ≥ 2 positions, or all with j ≤ i.

    That is the number of layers; if these carry a state from position to position, it is the
    number of positions that a path passes through. None if no number of layers suffices.
    """
    small, x = _small(shape, n)
    wanted = torch.ones(n, n, dtype=torch.bool)
    wanted = wanted.tril() if causal else wanted

    def connects(depth: int) -> bool:
        layers = stack(kind, small, depth, causal=causal)
        reached = influence(layers, x).abs().amax(-1) > 0
        return bool((reached | ~wanted).all())

    low, high = 0, 1  # `low` layers do not suffice
    while not connects(high):
        if high >= min(2 * n, _DEEPEST):
            return None
        low, high = high, min(2 * high, 2 * n)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if connects(middle) else (middle, high)
    (first,) = stack(kind, small, 1, causal=causal)
    assert isinstance(first, Mixer)
    return high * (n - 1) if first.carries else high


def influence_by_distance(
    kind: MixerKind, shape: MixerShape, n: int, *, causal: bool
) -> tuple[float, ...]:
    """Return the mean norm of the gradient of output i by input j of one layer, by |i − j|, [n]."""
    small, x = _small(shape, n)
    norms = influence(stack(kind, small, 1, causal=causal), x).norm(dim=-1)
    found = []
    for distance in range(n):
        parts = [norms.diagonal(-distance)]
        if not causal:
            parts.append(norms.diagonal(distance))
        found.append(float(torch.cat(parts).mean()))
    return tuple(found)


def _small(shape: MixerShape, n: int) -> tuple[MixerShape, Tensor]:
    """Return a narrow layer's sizes and a random row [n, D] for it."""
    drawn = torch.Generator().manual_seed(1)
    x = torch.randn(n, _D_MODEL, generator=drawn, dtype=torch.float64)
    return replace(shape, d_model=_D_MODEL, heads=_HEADS, longest=n), x
