"""How probable the model finds a given translation.

Legend: B sentences, T target positions, D d_model, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from core.decoding.batching import batches_by_length, padded
from core.decoding.search import proceed, source_batch
from core.model.transformer import Transformer

_LOGIT_ROWS = 256
"""Rows of logits in memory at a time, so that long texts need O(V) of it and not O(T·V)."""


def score_targets(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    batch_tokens: int = 8192,
    check: Callable[[], None] = proceed,
) -> list[Tensor]:
    """Return the natural logarithms of the probability of each target's tokens and of its end
    token.

    Args:
        model: in evaluation mode.
        sources, targets: ids without specials, as many of one as of the other.
        batch_tokens: sentences × longest side in a batch, padding included.
        check: called before each batch; what it raises ends the work.

    Returns:
        for each pair [len(target) + 1] float32, on the CPU.
    """
    config = model.config
    lengths = [
        1 + max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)
    ]
    scored = [torch.empty(0)] * len(targets)
    for batch in batches_by_length(range(len(targets)), lengths, batch_tokens):
        check()
        with torch.inference_mode():
            source = source_batch(model, [sources[index] for index in batch])
            fed = [[config.bos_id, *targets[index]] for index in batch]
            target_in = padded(fed, config.pad_id, model.device)  # [B, T]
            hidden = model.decode(target_in, model.encode(source), source)  # [B, T, D]
            for row, index in enumerate(batch):
                predicted = [*targets[index], config.eos_id]
                log_probabilities = token_log_probabilities(model, hidden[row], predicted)
                scored[index] = log_probabilities.cpu()
    return scored


def token_log_probabilities(model: Transformer, hidden: Tensor, tokens: Sequence[int]) -> Tensor:
    """Return the log-probability of the token that each position is to predict: hidden [≥ T, D], T
    tokens → [T] float32."""
    wanted = torch.tensor(tokens, device=hidden.device)
    parts = []
    for start in range(0, len(tokens), _LOGIT_ROWS):
        part = slice(start, min(start + _LOGIT_ROWS, len(tokens)))
        logits = model.logits(hidden[part]).float()  # [rows, V]
        chosen = logits.gather(1, wanted[part, None])[:, 0]
        parts.append(chosen - logits.logsumexp(dim=-1))
    return torch.cat(parts)


def perplexity(scored: Iterable[Tensor]) -> float:
    """Return exp of the mean negative log-probability per token; NaN without tokens."""
    total, tokens = 0.0, 0
    for log_probabilities in scored:
        total -= float(log_probabilities.sum(dtype=torch.float64))
        tokens += len(log_probabilities)
    return math.exp(total / tokens) if tokens else math.nan
