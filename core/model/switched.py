"""A model with its scaling or its decoder's mask switched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.heads import AttentionKind
from core.model.transformer import Transformer
from core.switches import Scaling, Switches


def switches_of(model: Transformer) -> Switches:
    """How the model is switched now; one that was trained without a mask has none."""
    return Switches(scaling=model.scaling, mask=model.masked)


@contextmanager
def switched(model: Transformer, switches: Switches) -> Iterator[None]:
    """Every pass of the model inside is switched: whole, recorded, cached, by any search.

    Inside another ``switched``, the inner one holds alone.
    """
    blocks = [block for kind in AttentionKind for block in model.attention_blocks(kind)]
    before = model.scaling, model.masked, [block.scale for block in blocks]
    try:
        model.scaling = switches.scaling
        model.masked = model.config.decoder_mask and switches.mask
        for block in blocks:
            on = switches.scaling is Scaling.ON
            block.scale = None if on else 1 / switches.scaling.divisor(block.d_k)
        yield
    finally:
        model.scaling, model.masked, scales = before
        for block, scale in zip(blocks, scales, strict=True):
            block.scale = scale
