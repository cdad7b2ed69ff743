"""Losses as sums; only the updater divides.

Legend: N positions, C positions of a chunk, D d_model, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.model.product import add_product, multiply

_CHUNK = 512


def cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, smoothing: float = 0.0
) -> Tensor:
    """Return the cross-entropy of softmax(h Wᵀ + b) against a smoothed target (paper, section 5.4),
    summed.

    The right token gets 1 - ε, and ε is spread evenly over all V tokens, the right one included:
    -(1 - ε) log p(target) - ε · mean over v of log p(v). Without smoothing that is -log p(target),
    which perplexity is made of.

    Positions get their logits a chunk at a time, and these turn into their own gradient in place:
    tensors [N, V], which would be the largest of a training step, never exist. On a CPU that makes
    the output layer and its loss half as fast again.

    Args:
        hidden: [N, D]; weight: [V, D]; bias: [V] or None.
        target: [N], without padding.
        smoothing: ε.

    Returns:
        [], computed in float32 at least, whatever comes in.
    """
    return cross_entropies(hidden, weight, bias, target, smoothing=smoothing)[0]


def cross_entropies(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return what ``cross_entropy`` returns, and the same without smoothing, for display only: the
    second has no gradient."""
    losses: tuple[Tensor, Tensor] = _CrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden, weight, bias, target, smoothing, torch.is_grad_enabled()
    )
    return losses


class _CrossEntropy(torch.autograd.Function):
    """The gradient of a sum takes nothing from later layers, so ``forward`` computes it too."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        smoothing: float,
        differentiate: bool,
    ) -> tuple[Tensor, Tensor]:
        wide = torch.promote_types(hidden.dtype, torch.float32)
        matrix = weight.to(_product_dtype(hidden))  # [V, D]
        vocabulary = len(matrix)
        products = matrix.new_empty(min(len(hidden), _CHUNK), vocabulary)
        loss = hidden.new_zeros((), dtype=wide)
        plain = loss.clone()
        gradients = _Gradients(hidden, weight, bias) if differentiate else None
        for start in range(0, len(hidden), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            x = hidden[chunk].to(matrix.dtype)  # [C, D]
            gold = target[chunk, None]  # [C, 1]
            log_p = multiply(x, matrix, out=products[: len(x)]).to(wide)  # [C, V]
            if bias is not None:
                log_p += bias
            torch.log_softmax(log_p, dim=-1, out=log_p)
            likelihood = log_p.gather(1, gold).sum()
            plain -= likelihood
            loss -= (1.0 - smoothing) * likelihood
            if smoothing:
                loss -= smoothing / vocabulary * log_p.sum()
            if gradients is not None:
                # That of the logits is p minus the smoothed target.
                error = log_p.exp_().sub_(smoothing / vocabulary)
                error.scatter_add_(1, gold, error.new_full(gold.shape, smoothing - 1.0))
                gradients.add(chunk, error, x, matrix)
        if gradients is not None:
            ctx.save_for_backward(gradients.hidden, gradients.weight, gradients.bias)
        ctx.mark_non_differentiable(plain)
        return loss, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        gradients = (None if x is None else x * outer[0] for x in ctx.saved_tensors)
        return *gradients, None, None, None


class _Gradients:
    """Of the loss, by its three inputs, as the chunks seen so far make them."""

    def __init__(self, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> None:
        self.hidden = torch.empty_like(hidden)
        self.weight = torch.zeros_like(weight)
        self.bias = None if bias is None else torch.zeros_like(bias)

    def add(self, chunk: slice, error: Tensor, x: Tensor, matrix: Tensor) -> None:
        """error [C, V] is the logits' gradient at the chunk, whose hidden vectors are x [C, D]."""
        if self.bias is not None:
            self.bias += error.sum(dim=0)
        error = error.to(matrix.dtype)
        self.hidden[chunk] = multiply(error, matrix.t())
        add_product(self.weight, error.t(), x.t())


def _product_dtype(x: Tensor) -> torch.dtype:
    """What a matrix product with ``x`` is computed in."""
    if torch.is_autocast_enabled(x.device.type):
        return torch.get_autocast_dtype(x.device.type)
    return x.dtype
