"""The generated corpus, encoded epoch by epoch."""

from __future__ import annotations

from collections.abc import Sequence

from core.corpus.grammar.generate import generate
from core.text.tokenizer import Tokenizer
from core.training.encoding import encode_pair, fits
from core.training.gloss import GlossEncoder
from core.training.pairs import EncodedPairs


def generated_epoch(
    epoch: int,
    *,
    tokenizer: Tokenizer,
    count: int,
    seed: int,
    glosses: bool,
    max_length: int,
    families: Sequence[str] = (),
    wide: bool = False,
) -> EncodedPairs:
    """Draw ``count`` training sentences with ``seed + epoch``, and leave out those that do not fit.

    ``families``: what sentences there are; all if it is empty. ``wide``: from the whole lexicon.
    """
    gloss_encoder = GlossEncoder(tokenizer)
    sentences = generate(
        count, seed=seed + epoch, split="train", families=families or None, wide=wide
    )
    pairs = (
        gloss_encoder.encode(sentence)
        if glosses
        else encode_pair(sentence.source, sentence.target, tokenizer)
        for sentence in sentences
    )
    return EncodedPairs.pack([pair for pair in pairs if fits(pair, max_length)])
