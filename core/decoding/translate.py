"""Text in, text out, and the same in ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.decoding.batching import batches_by_length
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.hypothesis import Hypothesis
from core.decoding.search import proceed, search
from core.model.transformer import Transformer
from core.text.passage import Passage
from core.text.tokenizer import Tokenizer

_CACHE_POSITIONS = 8192
"""Of all hypotheses of a batch: what decoding keeps in memory is proportional to it."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The best hypothesis of one text; all zero and empty for a text without a visible character.

    Attributes:
        ids: tokens of the translation without begin and end.
        log_probability: natural logarithm, the end token's included.
        score: ``log_probability`` divided by the length penalty.
    """

    text: str = ""
    ids: tuple[int, ...] = ()
    log_probability: float = 0.0
    score: float = 0.0


def translate(
    model: Transformer,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    config: SearchConfig = GREEDY,
    *,
    check: Callable[[], None] = proceed,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Translation]:
    """Translate each text, in their order: one in, one out, always.

    Args:
        model: in evaluation mode.
        check: called before every decoding step; what it raises ends the translation.
        progress: told how many texts are done, after each batch.

    Raises:
        UserError: a text is longer than the model's learned positions, or the model's weights
            are damaged.
    """
    sources = [tokenizer.encode(text) for text in texts]
    return [
        Translation(tokenizer.target.decode(best.ids), best.ids, best.log_probability, best.score)
        for best in best_hypotheses(model, sources, config, check=check, progress=progress)
    ]


def translate_passages(
    model: Transformer,
    tokenizer: Tokenizer,
    passages: Sequence[Passage],
    config: SearchConfig = GREEDY,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> list[tuple[Translation, ...]]:
    """Translate each passage sentence by sentence, the sentences of all of them in common batches.

    Args:
        progress: told, after each batch, how many passages that is about.

    Raises:
        UserError: as ``translate``.
    """
    questions = [question for passage in passages for question in passage.questions]
    found = iter(
        translate(
            model,
            tokenizer,
            questions,
            config,
            progress=lambda done: progress(done * len(passages) // len(questions)),
        )
    )
    return [tuple(islice(found, len(passage.spans))) for passage in passages]


def best_hypotheses(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    config: SearchConfig = GREEDY,
    *,
    check: Callable[[], None] = proceed,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Hypothesis]:
    """Decode each source, given as ids without specials, as ``translate`` does its texts.

    A source without ids gives a hypothesis that is all zero and empty.
    """
    found = ranked_hypotheses(model, sources, config, check=check, progress=progress)
    return [best for best, *_ in found]


def ranked_hypotheses(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    config: SearchConfig = GREEDY,
    *,
    check: Callable[[], None] = proceed,
    progress: Callable[[int], None] = lambda done: None,
) -> list[list[Hypothesis]]:
    """Decode as ``best_hypotheses`` does; return up to ``config.n_best`` of each source, best
    first."""
    positions = [config.beam * config.longest_output(len(ids) + 1, model.config) for ids in sources]
    ranked = [[Hypothesis((), 0.0, 0.0)] for _ in sources]
    visible = [index for index, ids in enumerate(sources) if ids]
    done = len(sources) - len(visible)
    for batch in batches_by_length(visible, positions, _CACHE_POSITIONS):
        found = search(model, [sources[index] for index in batch], config, check)
        for index, hypotheses in zip(batch, found, strict=True):
            ranked[index] = hypotheses
        done += len(batch)
        progress(done)
    return ranked
