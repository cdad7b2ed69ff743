"""What a decoder without its mask sees that it should not: later target tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.trace.trace import AttentionKind, Head, Trace


@dataclass(frozen=True, slots=True)
class Leak:
    """Means over the rows of a head that later tokens follow.

    Attributes:
        later: the weight on all later tokens.
        answer: the weight on the next one, which is the very token that the row is to predict.
    """

    later: float
    answer: float


def leaks(trace: Trace) -> dict[Head, Leak]:
    """Measure the leak of each head of the decoder's self-attention, in reading order.

    Zero where the mask was on; nothing where the trace has no such head, or a single target token.
    """
    kind = AttentionKind.DECODER_SELF
    if kind not in trace.kinds or len(trace.target_tokens) < 2:
        return {}
    return {head: _leak(trace, head) for head in trace.every_head(kind)}


def _leak(trace: Trace, head: Head) -> Leak:
    later = answer = 0.0
    start = 0
    for weights in trace.blocks(head):
        later += float(np.triu(weights, start + 1).sum(dtype=np.float64))
        answer += float(np.diagonal(weights, start + 1).sum(dtype=np.float64))
        start += len(weights)
    return Leak(later / (start - 1), answer / (start - 1))
