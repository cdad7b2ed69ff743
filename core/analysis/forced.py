"""The pairs that a sample forces upon a model, and how frequent its tokens are in general."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

from core.analysis.passes import Pair, encode_pairs
from core.analysis.sample import GRAMMAR, Sample, read_sample
from core.config import ModelConfig
from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence
from core.decoding.translate import translate
from core.errors import UserError
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

LONGEST = 512
"""Tokens of a side, its special included; a longer pair is left out, as its maps are large."""

COUNTED_GRAMMAR = 10_000
"""Sentences of the training split that tell how frequent tokens are in the generated corpus."""


@dataclass(frozen=True, slots=True)
class ForcedPairs:
    """The pairs of a sample as a model sees them, with the target forced upon the decoder.

    Attributes:
        pairs: one or more.
        gold: the generated sentences that they are; empty for other samples.
        left_out: pairs that are empty or too long for the model.
    """

    pairs: Sequence[Pair]
    gold: Sequence[Sentence]
    left_out: int


def forced_pairs(
    model: Transformer,
    tokenizer: Tokenizer,
    sample: Sample,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> ForcedPairs:
    """Encode the sample with the first translation of each source, or the model's own greedy one
    where it has none.

    Args:
        model: in evaluation mode.
        progress: told how many sources have been translated, if any are.

    Raises:
        UserError: nothing is left.
    """
    longest = _longest(model.config)
    if sample.references:
        texts = list(zip(sample.sources, sample.targets, strict=True))
    else:
        sources = [text for text in sample.sources if len(tokenizer.encode(text)) < longest]
        translated = translate(model, tokenizer, sources, progress=progress)
        texts = list(zip(sources, [one.text for one in translated], strict=True))
    pairs = encode_pairs(tokenizer, texts)
    fits = [bool(pair.source_ids) and pair.length <= longest for pair in pairs]
    kept = list(compress(pairs, fits))
    if not kept:
        raise UserError(
            f"No sentence of {sample.name} can be measured: each is empty or has more than "
            f"{longest - 1} tokens; use shorter sentences."
        )
    return ForcedPairs(
        kept, list(compress(sample.gold, fits)), left_out=len(sample.sources) - len(kept)
    )


def token_counts(tokenizer: Tokenizer, corpus: str) -> list[int]:
    """How often each token of the vocabulary occurs in the sources of a corpus: [V].

    Of "grammar" in ``COUNTED_GRAMMAR`` sentences of the training split, of files in all of them.

    Raises:
        UserError: as ``read_sample``.
    """
    if corpus == GRAMMAR:
        texts = [one.source for one in generate(COUNTED_GRAMMAR, seed=0, split="train")]
    else:
        texts = list(read_sample(corpus, sentences=10**9).sources)
    counted: Counter[int] = Counter()
    for ids in tokenizer.encode_all(texts):
        counted.update(ids)
    return [counted[id] for id in range(tokenizer.vocab_size)]


def _longest(config: ModelConfig) -> int:
    return min(LONGEST, config.max_positions) if config.positions == "learned" else LONGEST
