"""Beam search with a length penalty (paper section 6.1; Wu et al. 2016).

Legend: B sentences still searched, R rows of each (the beam), S source, D d_model, V vocabulary,
C candidates of a sentence, t tokens so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from core.decoding.choice import best_continuations
from core.decoding.config import SearchConfig
from core.decoding.hypothesis import Hypothesis, NBest
from core.model.transformer import Transformer


@dataclass(frozen=True, slots=True)
class Candidates:
    """The one-token continuations of each sentence's hypotheses, most probable first."""

    log_probabilities: Tensor  # [B, C], of all tokens so far; -inf for one that is none
    parents: Tensor  # [B, C], the row among its sentence's that is continued
    tokens: Tensor  # [B, C]

    def __getitem__(self, index: Tensor | tuple[Tensor, Tensor]) -> Candidates:
        return Candidates(self.log_probabilities[index], self.parents[index], self.tokens[index])


class Ending(NamedTuple):
    """A hypothesis that ends with the end token, as one of the R best candidates."""

    sentence: int
    parent: int  # the row that it ends
    log_probability: float


Observer = Callable[[Candidates, Sequence[Ending], Candidates], None]
"""Told at each step the 2R candidates [B, 2R], which of them end, and the [B, R] that go on."""


def beam_search(
    model: Transformer,
    memory: Tensor,
    source: Tensor,
    longest: Sequence[int],
    config: SearchConfig,
    check: Callable[[], None],
    observer: Observer | None = None,
) -> list[list[Hypothesis]]:
    """The best finished hypotheses of each sentence, at most ``config.n_best``, best first.

    A sentence is searched until no live hypothesis can score better than what is finished,
    whatever the others in the batch do; then it leaves the batch.

    Args:
        memory: [B, S, D]; source: [B, S].
        longest: the most tokens an output may have, for each sentence.
        check: called before every step.
    """
    beam, end = config.beam, model.config.eos_id
    cache = model.start_cache(memory, source, rows_per_sentence=beam, capacity=max(longest))
    found = [NBest(config, limit) for limit in longest]
    live = list(range(len(source)))  # the sentence of each group of R rows
    prefixes = source.new_full((len(source), beam, 1), model.config.bos_id)  # [B, R, t]
    log_probabilities = memory.new_full((len(source), beam), float("-inf"), dtype=torch.float32)
    log_probabilities[:, 0] = 0.0  # [B, R]: all rows are the same yet, so one of them counts
    for length in range(1, max(longest) + 1):
        check()
        logits = model.step(prefixes[:, :, -1].flatten(), cache).float()  # [B·R, V]
        must_end = [length == longest[sentence] for sentence in live for _ in range(beam)]
        # With one end token a row, 2R candidates hold at least R that go on.
        looked_at = Candidates(
            *best_continuations(
                logits, log_probabilities, model.config, must_end, free_end=config.free_end
            )
        )
        ended = list(ending(looked_at, beam, end))
        for row, parent, log_probability in ended:
            ids = prefixes[row, parent, 1:].tolist()
            found[live[row]].add(Hypothesis.finished(ids, log_probability, config))
        candidates = going_on(looked_at, beam, end)
        if observer is not None:
            observer(looked_at, ended, candidates)
        best_live = candidates.log_probabilities[:, 0].tolist()
        unsettled = [
            row
            for row, sentence in enumerate(live)
            if not found[sentence].is_settled(best_live[row], length)
        ]
        if not unsettled:
            break
        if len(unsettled) < len(live):
            kept = torch.tensor(unsettled, device=source.device)
            cache.keep(kept)
            candidates, prefixes = candidates[kept], prefixes[kept]
            live = [live[row] for row in unsettled]
        first_rows = torch.arange(0, len(live) * beam, beam, device=source.device)
        cache.reorder((first_rows[:, None] + candidates.parents).flatten())
        prefixes = extended(prefixes, candidates)
        log_probabilities = candidates.log_probabilities
    return [sentence.hypotheses for sentence in found]


def ending(candidates: Candidates, beam: int, end: int) -> Iterator[Ending]:
    """The candidates that end.

    Only those among the R best count: an ending that would not have survived as a token must not
    win as an ending.
    """
    top = candidates.log_probabilities[:, :beam]
    ends = (candidates.tokens[:, :beam] == end) & (top > float("-inf"))
    for sentence, rank in ends.nonzero().tolist():
        parent = int(candidates.parents[sentence, rank])
        yield Ending(sentence, parent, float(top[sentence, rank]))


def going_on(candidates: Candidates, beam: int, end: int) -> Candidates:
    """The R best candidates of each sentence that do not end."""
    ends_last = (candidates.tokens == end).byte().argsort(dim=1, stable=True)  # [B, C]
    sentences = torch.arange(len(ends_last), device=ends_last.device)[:, None]
    return candidates[sentences, ends_last[:, :beam]]


def extended(prefixes: Tensor, candidates: Candidates) -> Tensor:
    """Append one candidate to each new row: prefixes [B, R, t] → [B, R, t + 1]."""
    sentences = torch.arange(len(prefixes), device=prefixes.device)[:, None]
    chosen = prefixes[sentences, candidates.parents]  # [B, R, t]
    return torch.cat([chosen, candidates.tokens[..., None]], dim=-1)
