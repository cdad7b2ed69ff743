"""Which tokens may come next, and which are best.

Legend: N rows (hypotheses), V vocabulary, C candidates of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from core.config import ModelConfig

_MEMBERS = 32
_NEVER = float("-inf")


def best_next(
    logits: Tensor,
    count: int,
    config: ModelConfig,
    must_end: Sequence[bool],
    *,
    free_end: bool = False,
) -> tuple[Tensor, Tensor]:
    """The ``count`` most probable tokens of each row, best first.

    Begin, padding and ``config.unchosen_ids`` never come next. Probabilities are the model's own,
    over the whole vocabulary, so that they are those of a teacher-forced pass.

    Args:
        logits: [N, V], used up: the log-probabilities take their place.
        must_end: for each row, whether only the end token may come next.
        free_end: whether it then costs nothing, see ``SearchConfig``.

    Returns:
        log-probabilities and tokens, [N, min(count, V)] each; -inf where nothing may come.
    """
    log_probabilities = torch.log_softmax(logits, dim=-1, out=logits)  # [N, V]
    log_probabilities.index_fill_(1, _never_chosen(config, logits.device), _NEVER)
    if any(must_end):
        ending = torch.tensor(must_end, device=logits.device)[:, None]  # [N, 1]
        is_end = torch.arange(logits.shape[-1], device=logits.device) == config.eos_id  # [V]
        log_probabilities.masked_fill_(ending & ~is_end, _NEVER)
        if free_end:
            log_probabilities.masked_fill_(ending & is_end, 0.0)
    return top_k(log_probabilities, min(count, logits.shape[-1]))


def top_k(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """``values.topk(k)`` of [N, V]; several times as fast on a CPU for small k.

    Of V / 32 groups, the k with the largest maxima hold the k largest values, and maxima, unlike a
    selection, are computed with vector instructions.

    Returns:
        values and indices, [N, k] each, largest first.
    """
    width = values.shape[-1]
    groups = width // _MEMBERS
    if groups <= k:
        return torch.topk(values, k)
    end = groups * _MEMBERS
    grouped = values[:, :end].view(-1, _MEMBERS, groups)  # every V/32-th together
    chosen = grouped.amax(dim=1).topk(k).indices  # [N, k]
    starts, beyond = _members(width, values.device)
    members = (chosen[..., None] + starts).flatten(1)  # [N, k · 32]
    candidates = torch.cat([members, beyond.expand(len(values), -1)], dim=1)  # [N, C]
    best, where = values.gather(1, candidates).topk(k)
    return best, candidates.gather(1, where)


@lru_cache(maxsize=8)
def _never_chosen(config: ModelConfig, device: torch.device) -> Tensor:
    """The ids of begin, padding and ``config.unchosen_ids``."""
    with torch.inference_mode(False):
        return torch.tensor([config.pad_id, config.bos_id, *config.unchosen_ids], device=device)


@lru_cache(maxsize=8)
def _members(width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Of ``width`` values the first of each V/32-th, [32], and those that are in no group."""
    groups = width // _MEMBERS
    end = groups * _MEMBERS
    with torch.inference_mode(False):
        return (
            torch.arange(0, end, groups, device=device),
            torch.arange(end, width, device=device),
        )
