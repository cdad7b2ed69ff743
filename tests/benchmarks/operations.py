"""How much arithmetic an update is.

Legend: B pairs.
"""

from __future__ import annotations

import torch

from core.config import ModelConfig
from core.training.batch import Batch


def operations(config: ModelConfig, batch: Batch) -> int:
    """Of an update's matrix products, padding not counted: two for each weight a token meets.

    Attention's own products are of each query and key it may attend to. The way back takes twice
    as many as the way forward.
    """
    d, encoder_ff, decoder_ff = config.d_model, config.encoder_d_ff, config.decoder_d_ff
    source = (batch.source != config.pad_id).sum(dim=1)  # [B]
    target = torch.bincount(batch.real // batch.target_in.shape[1])  # [B]
    by_source = config.encoder_layers * (4 * d * d + 2 * d * encoder_ff)
    by_source += config.decoder_layers * 2 * d * d  # keys and values of its cross-attention
    by_target = config.decoder_layers * (6 * d * d + 2 * d * decoder_ff) + d * config.vocab_size
    seen = config.encoder_layers * source * source
    seen += config.decoder_layers * (target * (target + 1) // 2 + target * source)
    forward = by_source * source.sum() + by_target * target.sum() + 2 * d * seen.sum()
    return 3 * 2 * int(forward)
