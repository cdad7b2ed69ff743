"""Linear layers in 8 bits: faster and a quarter as large, and not quite the same numbers.

Weights are rounded once, in steps of 1/127 of the largest in each row of W. Inputs are rounded at
each call, in steps that suit the range of all rows together (dynamic quantisation), so that what
a sentence gives depends a little on the batch that it is in.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.model.transformer import Transformer


def _has_vnni() -> bool:
    """Whether the processor is known to add up products of 8 bits in 32 bits (AVX-512 VNNI)."""
    if not hasattr(torch.cpu, "get_capabilities"):  # before torch 2.13
        return False
    return bool(torch.cpu.get_capabilities().get("avx512_vnni", False))


_SEVEN_BITS = not _has_vnni()
"""Of inputs; others add up in 16 bits, which 8 bits times 8 bits may overflow."""


class Int8Linear(nn.Module):
    """A layer x Wᵀ + b in integers, for inference on a CPU."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        """Quantise weight [outputs, inputs] and bias [outputs], which are not kept."""
        super().__init__()
        scales = weight.detach().abs().amax(dim=1).clamp_min(torch.finfo(torch.float32).tiny) / 127
        zeros = torch.zeros(len(weight), dtype=torch.int64)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.quantize_per")  # as announced, from 2.14 on
            rounded = torch.quantize_per_channel(
                weight.detach().contiguous(), scales.double(), zeros, 0, torch.qint8
            )
        bias = None if bias is None else bias.detach()
        self.packed: Any = torch.ops.quantized.linear_prepack(rounded, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply: […, inputs] → […, outputs]."""
        product: Tensor = torch.ops.quantized.linear_dynamic(x, self.packed, _SEVEN_BITS)
        return product


def to_int8(model: Transformer) -> None:
    """Put every linear layer of the model, and its output projection, into 8 bits, in place.

    Embeddings, norms and attention itself stay in float32. The model is for inference from then
    on, and not to be saved.

    Raises:
        UserError: the model is not on the CPU, or torch has no kernels for it there.
    """
    if model.device.type != "cpu" or torch.backends.quantized.engine == "none":
        raise UserError("8-bit layers are supported on the CPU only; leave out int8.")
    for module in list(model.modules()):
        for name, layer in list(module.named_children()):
            if isinstance(layer, nn.Linear) and layer.weight.numel():
                setattr(module, name, Int8Linear(layer.weight, layer.bias))
    model.int8_output = Int8Linear(model.output_embedding.weight, model.output_bias)
