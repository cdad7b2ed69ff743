"""What the decoder's heads see of the answer when its mask is off.

Legend: A[i, j] is the weight of query i on key j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.trace.trace import AttentionKind, Head, Trace


@dataclass(frozen=True, slots=True)
class Leak:
    """What a decoder head without a mask sees that it should not: means over the rows that later
    tokens follow.

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
