"""The generated corpus, encoded epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator

from core.corpus.grammar.generate import generate
from core.parsing.gold import is_held_out
from core.text.tokenizer import Tokenizer
from core.training.config import PARSING, TrainingConfig
from core.training.encoding import encode_pair, fits
from core.training.gloss import GlossEncoder
from core.training.pairs import EncodedPair, EncodedPairs
from core.training.texts import sides


def generated_epoch(epoch: int, *, tokenizer: Tokenizer, config: TrainingConfig) -> EncodedPairs:
    """Draw ``config.grammar_pairs`` training sentences with ``config.seed + epoch``, and leave out
    those that do not fit and, for a parser, those of a held-out pattern."""
    pairs = _pairs(epoch, tokenizer, config)
    return EncodedPairs.pack([pair for pair in pairs if fits(pair, config.max_length)])


def _pairs(epoch: int, tokenizer: Tokenizer, config: TrainingConfig) -> Iterator[EncodedPair]:
    gloss_encoder = GlossEncoder(tokenizer)
    for sentence in generate(
        config.grammar_pairs,
        seed=config.seed + epoch,
        split="train",
        families=config.grammar_families or None,
        wide=config.grammar_wide,
    ):
        if config.gloss_weight > 0:
            yield gloss_encoder.encode(sentence)
            continue
        source, target = sides(sentence, config)
        if config.task != PARSING or not is_held_out(target):
            yield encode_pair(source, target, tokenizer)
