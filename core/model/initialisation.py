"""Initial weights: Xavier uniform for every matrix, with one optional scale.

Legend: D d_model.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.model.attention import CrossAttention, SelfAttention
from core.model.layers import FeedForward
from core.model.positions import LearnedPositions
from core.model.transformer import Transformer


def initialise(model: Transformer, seed: int, scale: float = 1.0) -> None:
    """Fill the model in place, the same for the same seed on every machine.

    Embeddings are normal with standard deviation D^-0.5, so that after ×√D they have variance 1.
    Queries, keys and values are drawn as the separate matrices they are, although one fused
    matrix holds them. Norms start as the identity, biases at 0.

    ``scale`` multiplies the matrices of the residual branch (values, output, feed-forward): below
    1 it keeps a post-norm encoder from giving every position nearly the same output, since the
    positions' common part is then not amplified layer by layer.
    """
    generator = torch.Generator().manual_seed(seed)

    def xavier(weight: Tensor, gain: float) -> None:
        nn.init.xavier_uniform_(weight, gain=gain, generator=generator)

    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                width = module.embedding_dim
                nn.init.normal_(module.weight, std=width**-0.5, generator=generator)
            elif isinstance(module, LearnedPositions):
                width = module.weight.shape[1]
                nn.init.normal_(module.weight, std=width**-0.5, generator=generator)
            elif isinstance(module, SelfAttention):
                query, key, value = torch.split(module.query_key_value.weight, module.widths)
                xavier(query, 1.0)
                xavier(key, 1.0)
                xavier(value, scale)
                xavier(module.output.weight, scale)
            elif isinstance(module, CrossAttention):
                key, value = torch.split(module.key_value.weight, module.widths)
                xavier(module.query.weight, 1.0)
                xavier(key, 1.0)
                xavier(value, scale)
                xavier(module.output.weight, scale)
            elif isinstance(module, FeedForward):
                xavier(module.inner.weight, scale)
                xavier(module.outer.weight, scale)
            elif isinstance(module, nn.LayerNorm):
                nn.init.ones_(module.weight)
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
