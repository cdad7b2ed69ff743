"""From source ids to finished hypotheses.

Legend: B sentences, S source, D d_model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from core.decoding.batching import padded
from core.decoding.beam import Observer, beam_search
from core.decoding.config import SearchConfig
from core.decoding.greedy import greedy_search
from core.decoding.hypothesis import Hypothesis
from core.errors import UserError
from core.model.transformer import Transformer


def proceed() -> None:
    """The check that never objects."""


def source_batch(model: Transformer, sources: Sequence[Sequence[int]]) -> Tensor:
    """Return ids without special tokens as [B, S] on the model's device, each sentence with its end
    token."""
    config = model.config
    rows = [[*ids, config.eos_id] for ids in sources]
    return padded(rows, config.pad_id, model.device)


def search(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    config: SearchConfig,
    check: Callable[[], None] = proceed,
) -> list[list[Hypothesis]]:
    """Decode one batch: the ``config.n_best`` best hypotheses of each sentence, best first.

    Each sentence's result is the one that it would have alone.

    Args:
        model: in evaluation mode.
        sources: ids without specials, one sequence for each sentence.
        check: called before every step; what it raises ends the search.

    Raises:
        UserError: a sentence is longer than the model's learned positions, or the model's
            weights are damaged.
    """
    with torch.inference_mode():
        source = source_batch(model, sources)
        return search_memory(model, model.encode(source), source, config, check)


@torch.inference_mode()
def search_memory(
    model: Transformer,
    memory: Tensor,
    source: Tensor,
    config: SearchConfig,
    check: Callable[[], None] = proceed,
    observer: Observer | None = None,
) -> list[list[Hypothesis]]:
    """Search as ``search`` does for sentences encoded before: memory [B, S, D], source [B, S].

    With an ``observer`` it is beam search at any width, of 1 too.
    """
    if model.training:
        raise ValueError("search needs a model in evaluation mode: model.eval()")
    lengths = (source != model.config.pad_id).sum(dim=1).tolist()
    longest = [config.longest_output(length, model.config) for length in lengths]
    if config.beam == 1 and observer is None:
        greedy = greedy_search(model, memory, source, longest, config, check)
        results = [[hypothesis] for hypothesis in greedy]
    else:
        results = beam_search(model, memory, source, longest, config, check, observer)
    for hypotheses in results:
        require_usable(hypotheses[0] if hypotheses else None)
    return results


def require_usable(best: Hypothesis | None) -> None:
    """Raise UserError unless a hypothesis was found that has a probability."""
    if best is None or not math.isfinite(best.log_probability):
        raise UserError(
            "This model returns no usable probabilities, so its weights are damaged; open another "
            "one."
        )
