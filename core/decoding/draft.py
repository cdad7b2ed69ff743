"""Greedy search that starts from a draft, such as the translation of the text before an edit.

One pass over the whole draft says what the model chooses after each of its tokens. As far as these
are the tokens of the draft, greedy search would have chosen them one by one; from there it goes on.

Legend: T tokens of the draft, S source, D d_model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from core.decoding.choice import best_next
from core.decoding.config import SearchConfig
from core.decoding.greedy import go_on_greedily, greedy_search
from core.decoding.hypothesis import Hypothesis
from core.model.recording import Recording
from core.model.transformer import Transformer

_LEAD = 1e-3
"""By how much a choice's log-probability must lead: far more than the rounding by which a pass over
several tokens differs from steps, so that both choose the same."""


class Known(NamedTuple):
    """The first tokens that the search chooses, and the logarithm of their probability. The end
    token is the last one where they are all."""

    ids: tuple[int, ...]
    log_probability: float


@torch.inference_mode()
def known_tokens(
    model: Transformer,
    hidden: Tensor,
    draft: Sequence[int],
    longest: int,
    config: SearchConfig,
) -> Known:
    """Return as much of what greedy search chooses as one pass over a draft shows: the tokens of
    the draft that are right, and the one that comes after them.

    Args:
        hidden: what ``model.decode`` made of the begin token and the draft, [1, T + 1, D].
        draft: T < ``longest`` ids without specials.
        longest: the most tokens that the output may have.
    """
    must_end = [row + 1 == longest for row in range(len(draft) + 1)]
    logits = model.logits(hidden[0]).float()  # [T + 1, V]
    best, chosen = best_next(logits, 2, model.config, must_end, free_end=config.free_end)
    clear = best[:, 0] - best[:, 1] > _LEAD  # [T + 1]
    expected = torch.tensor(draft, dtype=chosen.dtype, device=chosen.device)
    agrees = clear[:-1] & (chosen[:-1, 0] == expected)  # [T]
    right = int(agrees.long().cumprod(0).sum())
    known = right + int(clear[right])
    return Known(tuple(chosen[:known, 0].tolist()), float(best[:known, 0].sum()))


@torch.inference_mode()
def greedy_from(
    model: Transformer,
    memory: Tensor,
    source: Tensor,
    known: Known,
    recording: Recording,
    longest: int,
    config: SearchConfig,
    check: Callable[[], None],
) -> Hypothesis:
    """Return the hypothesis that ``greedy_search`` finds for one sentence.

    Args:
        memory: [1, S, D]; source: [1, S].
        recording: of the pass that ``known`` is from.
        check: called before every step.
    """
    ids, log_probability = known
    if not ids:
        return greedy_search(model, memory, source, [longest], config, check)[0]
    if ids[-1] == model.config.eos_id:
        return Hypothesis.finished(ids[:-1], log_probability, config)
    cache = model.start_cache(memory, source, capacity=longest)
    cache.fill(recording.decoder_self, len(ids))
    fed = source.new_tensor(ids[-1:])
    return go_on_greedily(
        model, cache, fed, [list(ids)], [log_probability], [longest], config, check
    )[0]
