"""x Wᵀ + b, by the kernel that was chosen for it.

The choice holds for the process, as the number of torch's threads does. It concerns float32 on a
CPU; everything else is computed by torch's own product.

Legend: N rows, D inputs, V outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.kernels import PRESENT, Multiply, OnednnLinear, Prepared, onednn
from core.model.product_choice import ONEDNN, TORCH, UNMEASURED, ProductChoice

_choice = UNMEASURED


def chosen() -> ProductChoice:
    """What is in use."""
    return _choice


def choose(choice: ProductChoice) -> None:
    """Use these kernels from now on. Those that this build of torch lacks are torch's own."""
    global _choice
    _choice = choice


@contextmanager
def choosing(choice: ProductChoice) -> Iterator[None]:
    """Use these kernels inside the context."""
    before = _choice
    choose(choice)
    try:
        yield
    finally:
        choose(before)


class _Copy(NamedTuple):
    prepared: Prepared
    weight: Tensor
    numbers: Tensor  # those of W, held so that no other tensor can come to lie at their address
    version: int  # of W when it was copied
    threads: int  # that it was cut for; products with it may run on no more

    def serves(self, weight: Tensor) -> bool:
        same = self.weight is weight and self.version == weight._version
        same &= self.numbers.data_ptr() == weight.data_ptr()  # also after ``weight.data = …``
        return same and self.threads >= torch.get_num_threads()


class Product:
    """``F.linear`` with the same W again and again; a packed copy of W is made when first used."""

    def __init__(self) -> None:
        self._copies: dict[str, _Copy] = {}

    def __reduce__(self) -> tuple[type[Product], tuple[()]]:
        """Copies and pickles start empty: what is packed must stay at its address."""
        return Product, ()

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """
        Args:
            x: […, D]; bias: [V] or None.
            weight: [V, D]; after a change that its ``_version`` does not count, as by a fused
                optimiser, call ``forget``.

        Returns:
            […, V]
        """
        if torch.is_grad_enabled():
            return _differentiable(x, weight, bias)
        rows = x.numel() // max(1, x.shape[-1])
        other = self._other(weight, rows) if _concerned(x, weight) else None
        if other is None:
            return F.linear(x, weight, bias)
        multiply, prepared = other
        return multiply(x, prepared, weight, bias)

    def bound(self, weight: Tensor, bias: Tensor | None, rows: int) -> Callable[[Tensor], Tensor]:
        """x [N, D] → [N, V], without a gradient, for x of about so many rows, looked up now. It is
        good as long as W and the number of threads stay the same."""
        other = self._other(weight, rows)
        if other is not None:
            multiply, prepared = other
            return partial(multiply, prepared=prepared, weight=weight, bias=bias)
        columns = weight.t()
        if bias is None:
            return lambda x: torch.mm(x, columns)
        return lambda x: torch.addmm(bias, x, columns)

    def forget(self) -> None:
        """Drop the packed copies."""
        self._copies.clear()

    def _other(self, weight: Tensor, rows: int) -> tuple[Multiply, Prepared] | None:
        """The kernel and what it reads in place of W; None if that is torch's own."""
        name = _choice.kernel(rows, weight.numel())
        # Nothing says whether an inference tensor was changed, so no copy of it is kept.
        if name == TORCH or name not in PRESENT or weight.is_inference() or not _eligible(weight):
            return None
        kernel = PRESENT[name]
        if not kernel.copies:
            return kernel.multiply, weight
        kept = self._copies.get(name)
        if kept is None or not kept.serves(weight):
            numbers = weight.detach()
            prepared = kernel.prepare(numbers)
            threads = torch.get_num_threads()
            kept = _Copy(prepared, weight, numbers, weight._version, threads)
            self._copies[name] = kept
        return kernel.multiply, kept.prepared


class Linear(nn.Linear):
    """A layer x Wᵀ + b of the model."""

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__(inputs, outputs, bias=bias)
        self._product = Product()

    def forward(self, input: Tensor) -> Tensor:
        """Multiply: […, inputs] → […, outputs]."""
        return self._product(input, self.weight, self.bias)

    def bound(self, rows: int) -> Callable[[Tensor], Tensor]:
        """See ``Product.bound``."""
        return self._product.bound(self.weight, self.bias, rows)

    def train(self, mode: bool = True) -> Linear:
        self._product.forget()  # an optimiser may have changed W
        super().train(mode)
        return self


def multiply(x: Tensor, weight: Tensor, out: Tensor | None = None) -> Tensor:
    """Return x [N, D] Wᵀ by the kernel of training, outside of autograd; ``out`` [N, V] may be
    used."""
    return onednn(x, weight) if _trains_by_onednn(x, weight) else torch.mm(x, weight.t(), out=out)


def add_product(total: Tensor, x: Tensor, weight: Tensor) -> None:
    """Add what ``multiply`` returns to ``total`` [N, V], in place."""
    if _trains_by_onednn(x, weight) or total.dtype != x.dtype:
        total += multiply(x, weight)
    else:
        total.addmm_(x, weight.t())


def store_as_chosen(model: nn.Module) -> None:
    """Store W of each linear layer column by column if that was chosen; values and shapes stay."""
    if _choice.columns:
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.weight.data = module.weight.data.t().contiguous().t()


def _differentiable(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if not _trains_by_onednn(x, weight) or torch.is_autocast_enabled("cpu"):
        return F.linear(x, weight, bias)
    product: Tensor = OnednnLinear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return product


def _trains_by_onednn(x: Tensor, weight: Tensor) -> bool:
    return _choice.training == ONEDNN and ONEDNN in PRESENT and _concerned(x, weight)


def _concerned(x: Tensor, weight: Tensor) -> bool:
    """Whether there is a choice at all."""
    return x.dtype == weight.dtype and x.numel() > 0 and _eligible(weight)


def _eligible(weight: Tensor) -> bool:
    eligible = weight.dtype == torch.float32 and weight.device.type == "cpu" and weight.numel() > 0
    return eligible and not torch.compiler.is_compiling()
