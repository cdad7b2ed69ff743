"""Greedy search: the most probable token, again and again.

Legend: B sentences, N sentences still decoded, S source, D d_model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from core.decoding.choice import best_next
from core.decoding.config import SearchConfig
from core.decoding.hypothesis import Hypothesis
from core.model.cache import DecoderCache
from core.model.transformer import Transformer


def greedy_search(
    model: Transformer,
    memory: Tensor,
    source: Tensor,
    longest: Sequence[int],
    config: SearchConfig,
    check: Callable[[], None],
) -> list[Hypothesis]:
    """One hypothesis for each sentence.

    Args:
        memory: [B, S, D]; source: [B, S].
        longest: the most tokens an output may have, for each sentence.
        check: called before every step.
    """
    cache = model.start_cache(memory, source, capacity=max(longest))
    tokens = source.new_full((len(source),), model.config.bos_id)  # [B]
    count = len(source)
    return go_on_greedily(
        model, cache, tokens, [[] for _ in range(count)], [0.0] * count, longest, config, check
    )


def go_on_greedily(
    model: Transformer,
    cache: DecoderCache,
    tokens: Tensor,
    ids: list[list[int]],
    log_probabilities: list[float],
    longest: Sequence[int],
    config: SearchConfig,
    check: Callable[[], None],
) -> list[Hypothesis]:
    """Search as ``greedy_search`` does, from where the cache is.

    Args:
        tokens: what is fed next, [B].
        ids, log_probabilities: what was chosen so far for each sentence; both are used up.
    """
    end = model.config.eos_id
    live = list(range(len(ids)))  # the sentence of each row
    for length in range(cache.length + 1, max(longest) + 1):
        check()
        logits = model.step(tokens, cache).float()  # [N, V]
        must_end = [length == longest[sentence] for sentence in live]
        best, best_tokens = best_next(
            logits, 1, model.config, must_end, free_end=config.free_end
        )  # [N, 1]
        tokens = best_tokens[:, 0]  # [N]
        chosen = tokens.tolist()
        for sentence, token, log_probability in zip(live, chosen, best[:, 0].tolist(), strict=True):
            log_probabilities[sentence] += log_probability
            if token != end:
                ids[sentence].append(token)
        going_on = [row for row, token in enumerate(chosen) if token != end]
        if not going_on:
            break
        if len(going_on) < len(live):
            rows = torch.tensor(going_on, device=tokens.device)
            cache.keep(rows)
            tokens = tokens[rows]
            live = [live[row] for row in going_on]
    return [
        Hypothesis.finished(sentence_ids, log_probability, config)
        for sentence_ids, log_probability in zip(ids, log_probabilities, strict=True)
    ]
