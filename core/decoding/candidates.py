"""What the model would have said at each step of a given translation.

Legend: T target positions, D d_model, V vocabulary, C candidates of a position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.decoding.choice import best_next
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import proceed, source_batch
from core.model.transformer import Transformer

_LOGIT_ROWS = 256
"""Rows of logits in memory at a time, so that long texts need O(V) of it and not O(T·V)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that may come next, and the natural logarithm of its probability."""

    id: int
    log_probability: float


@torch.inference_mode()
def step_candidates(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    *,
    count: int = 8,
    config: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> list[tuple[Candidate, ...]]:
    """The most probable tokens at the step of each target token, best first, by one forced pass.

    Args:
        model: in evaluation mode.
        source: ids without specials.
        target: ids of a hypothesis, with the end token where it is finished.
        config: where the output is as long as this allows, the end token is the only candidate.
        check: called before each block of positions; what it raises ends the work.
    """
    longest = config.longest_output(len(source) + 1, model.config)
    batch = source_batch(model, [source])
    fed = torch.tensor([[model.config.bos_id, *target[:-1]]], device=model.device)  # [1, T]
    hidden = model.decode(fed, model.encode(batch), batch)[0]  # [T, D]
    found: list[tuple[Candidate, ...]] = []
    for start in range(0, len(target), _LOGIT_ROWS):
        check()
        logits = model.logits(hidden[start : start + _LOGIT_ROWS]).float()  # [rows, V]
        must_end = [step + 1 == longest for step in range(start, start + len(logits))]
        found += named(*best_next(logits, count, model.config, must_end))
    return found


def named(best: Tensor, ids: Tensor) -> list[tuple[Candidate, ...]]:
    """Return log-probabilities and ids [N, C] of ``best_next``, without those that may not come."""
    return [
        tuple(
            Candidate(id, log_probability)
            for id, log_probability in zip(*row, strict=True)
            if log_probability > float("-inf")
        )
        for row in zip(ids.tolist(), best.tolist(), strict=True)
    ]
