"""Padding in traces of other programs: tokens that were only there to fill up a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Booleans, Trace

_PIECES = frozenset({"<pad>", "[PAD]", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>"})


def padding(trace: Trace) -> str:
    """A sentence on the padding that the trace holds; "" where it holds none.

    Padding is at one end of a side. It is named as such, or no head gives it any weight, which a
    mask does. The one padding token that begins a decoder's input, as in Marian and T5, is none.
    """
    found = []
    for side, tokens, kinds in (
        ("source", trace.source_tokens, (AttentionKind.ENCODER_SELF, AttentionKind.CROSS)),
        ("target", trace.target_tokens, (AttentionKind.DECODER_SELF,)),
    ):
        named = np.array([token.piece in _PIECES for token in tokens], dtype=bool)
        count = _at_ends(named | _never_seen(trace, tokens, kinds))
        if side == "target" and len(tokens) > 0 and named[0]:
            count -= 1
        if count > 0:
            found.append(f"{count:,} of its {len(tokens):,} {side} tokens")
    if not found:
        return ""
    return (
        f"The trace contains padding, {' and '.join(found)}; save one text at a time, without "
        "padding."
    )


def _never_seen(trace: Trace, tokens: Sequence[Token], kinds: Sequence[AttentionKind]) -> Booleans:
    """Which tokens get exactly no weight from any query in any head."""
    there = [kind for kind in kinds if kind in trace.kinds]
    seen = np.full(len(tokens), not there)
    for kind in there:
        for _, layer, head in trace.every_head(kind):
            seen |= trace.weights(kind, layer, head).any(axis=0)
            if seen.all():
                break
    return ~seen


def _at_ends(padded: Booleans) -> int:
    """How many are padding without a break from either end; 0 where all would be."""
    if padded.all():
        return 0
    real = np.flatnonzero(~padded)
    return int(real[0] + len(padded) - 1 - real[-1])
