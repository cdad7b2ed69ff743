"""How alike the encoder's outputs at different positions are: the sign of its collapse.

Legend: B batch, S source, D d_model.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def position_cosine(memory: Tensor, source_real: Tensor) -> float:
    """Return the mean cosine between the encoder's outputs at two different positions of a
    sentence.

    Args:
        memory: [B, S, D]; source_real: boolean [B, S], False at padding.

    Returns:
        the mean over all such pairs of positions; 0 if no sentence has two. Near 1 the encoder
        gives every position the same output: it has collapsed.
    """
    real = source_real[..., None].to(memory.dtype)  # [B, S, 1]
    unit = F.normalize(memory.detach(), dim=-1) * real
    count = real.sum(dim=(1, 2))  # [B]
    # The sum over all pairs is the square of the sum; each position's pair with itself gives 1.
    pairs = (count * (count - 1)).sum()
    total = (unit.sum(dim=1).square().sum(dim=-1) - count).sum()
    return (total / pairs.clamp(min=1)).item()
