"""How long a decoding step takes here, with the cache of keys and values and without it.

Legend: S source tokens, T target tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch
from torch import Tensor

from core.decoding.search import source_batch
from core.model.recording import Recording
from core.model.transformer import Transformer

REPEATS = 3
"""The fastest of so many counts: whatever else the machine does only makes it slower."""


@torch.inference_mode()
def step_seconds(model: Transformer, source: list[int], length: int) -> tuple[float, float]:
    """Measure the step that gives the scores of the token after ``length`` target tokens.

    With the cache, the keys and values of the tokens before are there, and one row is computed.
    Without it, all rows are computed again. Both end in the same scores [1, V].

    Args:
        model: in evaluation mode.
        source: ids without specials.
        length: 1 or more; what the tokens are does not matter to the time.

    Returns:
        The seconds with the cache, and those without.
    """
    batch = source_batch(model, [source])  # [1, S]
    memory = model.encode(batch)
    fed = torch.full((1, length), model.config.eos_id, device=model.device)  # [1, T]
    fed[:, 0] = model.config.bos_id
    recording = Recording()
    model.decode(fed, memory, batch, recording)
    cache = model.start_cache(memory, batch, capacity=length)
    cache.fill(recording.decoder_self, length - 1)

    def with_cache() -> Tensor:
        cache.length = length - 1  # the step before made it longer
        return model.step(fed[:, -1], cache)

    def without_cache() -> Tensor:
        return model.logits(model.decode(fed, memory, batch)[:, -1])

    return _fastest(with_cache), _fastest(without_cache)


def _fastest(run: Callable[[], Tensor]) -> float:
    """Run it once to warm up, then measure."""
    run().sum().item()  # waits for a device that computes by itself
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        run().sum().item()
        times.append(perf_counter() - start)
    return min(times)
