"""The ways to compute x Wᵀ + b on a processor, each with its own copy of W where it needs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.model.product_choice import COLUMNS, MKL_PACKED, ONEDNN, ONEDNN_PACKED, TORCH

_TYPICAL_ROWS = 32  # that W is packed for; other numbers of rows are computed as well

Prepared = Any  # a Tensor, opaque where it is packed


class Multiply(Protocol):
    """x […, D], what ``prepare`` returned, W and b [V] or None → […, V]."""

    def __call__(
        self, x: Tensor, prepared: Prepared, weight: Tensor, bias: Tensor | None
    ) -> Tensor: ...


class Kernel(NamedTuple):
    """
    Attributes:
        prepare: what the kernel reads in place of W [V, D].
        multiply: x Wᵀ + b.
        copies: whether ``prepare`` copies W, so that it takes its size in memory again.
    """

    prepare: Callable[[Tensor], Prepared]
    multiply: Multiply
    copies: bool


def _as_it_is(weight: Tensor) -> Tensor:
    return weight


def _by_columns(weight: Tensor) -> Tensor:
    return weight.t().contiguous().t()


def _torch(x: Tensor, prepared: Prepared, weight: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(x, prepared, bias)


# Private, and not in every build of torch; its own compiler calls them.


def _mkl_pack(weight: Tensor) -> Prepared:
    return torch.ops.mkl._mkl_reorder_linear_weight(weight.contiguous(), _TYPICAL_ROWS)


def _mkl(x: Tensor, prepared: Prepared, weight: Tensor, bias: Tensor | None) -> Tensor:
    rows = x.numel() // x.shape[-1]
    product: Tensor = torch.ops.mkl._mkl_linear(x, prepared, weight, bias, rows)
    return product


def _onednn_pack(weight: Tensor) -> Prepared:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _TYPICAL_ROWS)


def _onednn(x: Tensor, prepared: Prepared, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, prepared, bias, "none", [], "")
    return product


def onednn(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x Wᵀ + b by oneDNN, for matrices in any layout."""
    return _onednn(x, weight, weight, bias)


def _present() -> dict[str, Kernel]:
    """The kernels that this build of torch has, by their names."""
    kernels = {
        TORCH: Kernel(_as_it_is, _torch, copies=False),
        COLUMNS: Kernel(_by_columns, _torch, copies=True),
    }
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if has_mkl and _has(torch.ops.mkl, "_mkl_linear", "_mkl_reorder_linear_weight"):
        kernels[MKL_PACKED] = Kernel(_mkl_pack, _mkl, copies=True)
    has_onednn = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if has_onednn and _has(torch.ops.mkldnn, "_linear_pointwise"):
        kernels[ONEDNN] = Kernel(_as_it_is, _onednn, copies=False)
        if _has(torch.ops.mkldnn, "_reorder_linear_weight"):
            kernels[ONEDNN_PACKED] = Kernel(_onednn_pack, _onednn, copies=True)
    return kernels


def _has(operators: Any, *names: str) -> bool:
    return all(hasattr(operators, name) for name in names)


PRESENT = _present()


class OnednnLinear(torch.autograd.Function):
    """Computes x Wᵀ + b and the gradients by x and by W with oneDNN."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Multiply: x […, D], weight [V, D], bias [V] → […, V]."""
        ctx.save_for_backward(x, weight)
        return onednn(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        error = outer[0].reshape(-1, len(weight))  # [N, V]
        by_x = onednn(error, weight.t()).view_as(x) if wants_x else None
        by_weight = onednn(error.t(), x.reshape(len(error), -1).t()) if wants_weight else None
        return by_x, by_weight, error.sum(dim=0) if wants_bias else None
