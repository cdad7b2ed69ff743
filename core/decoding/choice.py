"""Which tokens may come next, and which are best.

Legend: N rows (hypotheses), V vocabulary, C candidates of a row.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    for never in (config.pad_id, config.bos_id, *config.unchosen_ids):
        log_probabilities[:, never].fill_(_NEVER)
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
    members = chosen[..., None] + torch.arange(0, end, groups, device=values.device)  # [N, k, 32]
    beyond = torch.arange(end, width, device=values.device).expand(len(values), -1)
    candidates = torch.cat([members.flatten(1), beyond], dim=1)  # [N, C]
    best, where = values.gather(1, candidates).topk(k)
    return best, candidates.gather(1, where)
