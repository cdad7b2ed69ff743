"""Which tokens may come next, and which are best.

Legend: N rows (hypotheses), V vocabulary, C candidates of a row; B sentences of R rows each.
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
    _to_log_probabilities(logits, config, must_end, free_end)
    return top_k(logits[:, None], min(count, logits.shape[-1]))


def best_continuations(
    logits: Tensor,
    so_far: Tensor,
    config: ModelConfig,
    must_end: Sequence[bool],
    *,
    free_end: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The 2R best continuations of each sentence by one token, out of all of its rows.

    Args:
        logits, must_end, free_end: as in ``best_next``, N = B·R.
        so_far: [B, R], the log-probability of each row.

    Returns:
        log-probabilities of the whole, the rows that are continued and the tokens, [B, 2R] each;
        -inf where nothing may come.
    """
    _to_log_probabilities(logits, config, must_end, free_end)
    width = logits.shape[-1]
    best, where = top_k(logits.view(*so_far.shape, width), 2 * so_far.shape[1], so_far)
    return best, where // width, where % width


def _to_log_probabilities(
    logits: Tensor, config: ModelConfig, must_end: Sequence[bool], free_end: bool
) -> None:
    """In place: -inf where nothing may come."""
    torch.log_softmax(logits, dim=-1, out=logits)
    logits.index_fill_(1, _never_chosen(config, logits.device), _NEVER)
    if any(must_end):
        ending = torch.tensor(must_end, device=logits.device)[:, None]  # [N, 1]
        is_end = torch.arange(logits.shape[-1], device=logits.device) == config.eos_id  # [V]
        logits.masked_fill_(ending & ~is_end, _NEVER)
        if free_end:
            logits.masked_fill_(ending & is_end, 0.0)


def top_k(values: Tensor, k: int, offsets: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return the k largest of ``values[b, r, v] + offsets[b, r]`` for each b; fast on a CPU for
    small k.

    Of R·V / 32 groups, the k with the largest maxima hold the k largest values, and maxima, unlike
    a selection, are computed with vector instructions.

    Args:
        values: [B, R, V], contiguous; offsets: [B, R], or None for zeros.

    Returns:
        the sums and where they are among the R·V, [B, k] each, largest first.
    """
    sentences, rows, width = values.shape
    groups = width // _MEMBERS
    if rows * groups <= k:
        sums = values if offsets is None else values + offsets[..., None]
        return torch.topk(sums.flatten(1), k)
    in_groups = values.narrow(2, 0, groups * _MEMBERS)  # every V/32-th of a row together
    maxima = in_groups.view(sentences, rows, _MEMBERS, groups).amax(dim=2)
    if offsets is not None:
        maxima += offsets[..., None]
    chosen = maxima.view(sentences, -1).topk(k).indices  # [B, k]
    starts, beyond = _members(rows, width, values.device)
    first = chosen if rows == 1 else chosen + chosen // groups * (width - groups)
    members = (first[..., None] + starts).view(sentences, -1)  # [B, k · 32]
    candidates = torch.cat([members, beyond.expand(sentences, -1)], dim=1)  # [B, C]
    sums = values.view(sentences, -1).gather(1, candidates)
    if offsets is not None:
        sums += offsets.gather(1, candidates // width)
    best, where = sums.topk(k)
    return best, candidates.gather(1, where)


@lru_cache(maxsize=8)
def _never_chosen(config: ModelConfig, device: torch.device) -> Tensor:
    """The ids of begin, padding and ``config.unchosen_ids``."""
    with torch.inference_mode(False):
        return torch.tensor([config.pad_id, config.bos_id, *config.unchosen_ids], device=device)


@lru_cache(maxsize=8)
def _members(rows: int, width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Where the members of the first group are, [32], and where those of none are, in all rows."""
    groups = width // _MEMBERS
    end = groups * _MEMBERS
    with torch.inference_mode(False):
        beyond = torch.arange(rows * width, device=device).view(rows, width)[:, end:]
        return torch.arange(0, end, groups, device=device), beyond.flatten()
