"""x Wᵀ + b for the few rows x of a decoding step and a large W.

Legend: N rows, D d_model, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

_LARGE = 1 << 20  # numbers: 4 MB, more than a core's own cache
_TYPICAL_ROWS = 128
_HAS_MKL: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
# Private, and not in every build of torch; its own compiler calls them.
_OPERATORS = ("_mkl_linear", "_mkl_reorder_linear_weight")
_CAN_PACK = _HAS_MKL and all(hasattr(torch.ops.mkl, name) for name in _OPERATORS)


class _Copy(NamedTuple):
    packed: Tensor
    weight: Tensor
    numbers: Tensor  # those of W, held so that no other tensor can come to lie at their address
    version: int  # of W when it was copied
    threads: int  # that it was cut for; products with it run on no more

    def serves(self, weight: Tensor) -> bool:
        same = self.weight is weight and self.version == weight._version
        same &= self.numbers.data_ptr() == weight.data_ptr()  # also after ``weight.data = …``
        return same and self.threads >= torch.get_num_threads()


class PackedLinear:
    """``F.linear`` with the same W again and again, up to twice as fast on a CPU.

    For more than one row, MKL copies W, whole, into the order that its kernel reads best, at each
    call. Here it does so at the first one.
    """

    def __init__(self) -> None:
        self._copy: _Copy | None = None

    def __reduce__(self) -> tuple[type[PackedLinear], tuple[()]]:
        """Copies and pickles start empty: what is packed must stay at its address."""
        return PackedLinear, ()

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """
        Args:
            x: […, D]; bias: [V].
            weight: [V, D]; after a change that its ``_version`` does not count, as by a fused
                optimiser, call ``forget``.

        Returns:
            […, V]
        """
        rows = x.numel() // x.shape[-1]
        large = weight.numel() >= _LARGE and weight.dtype == torch.float32
        on_cpu = x.device.type == "cpu" and not torch.is_grad_enabled()
        if not (_CAN_PACK and rows > 1 and large and on_cpu) or weight.is_inference():
            return F.linear(x, weight, bias)
        product: Tensor = torch.ops.mkl._mkl_linear(x, self._packed(weight), weight, bias, rows)
        return product

    def forget(self) -> None:
        self._copy = None

    def _packed(self, weight: Tensor) -> Tensor:
        kept = self._copy
        if kept is None or not kept.serves(weight):
            numbers = weight.detach()
            packed = torch.ops.mkl._mkl_reorder_linear_weight(numbers.contiguous(), _TYPICAL_ROWS)
            threads = torch.get_num_threads()
            self._copy = kept = _Copy(packed, weight, numbers, weight._version, threads)
        return kept.packed
