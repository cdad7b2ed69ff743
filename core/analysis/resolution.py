"""Which head finds what "it" means: how often each is right in both sentences of a minimal pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from core.corpus.grammar.sentence import Sentence
from core.evaluation.pronouns import BATCH, as_pieces, observe
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer


def resolving_heads(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[Sentence, Sentence]],
    *,
    check: Callable[[], None] = lambda: None,
) -> dict[Head, float]:
    """The share of pairs, one or more, in which a head is right both times.

    A head of encoder self-attention is right if in the row of "it" the noun meant has the largest
    weight of all words, a head of cross-attention if it has it in the row that predicts the German
    pronoun (`core.evaluation.pronouns.Observation`). A head that does not read the adjective is
    right in one of the two sentences at most.

    Args:
        model: in evaluation mode.
        check: called between batches; what it raises ends the work.
    """
    pieces = [as_pieces(sentence, tokenizer) for pair in pairs for sentence in pair]
    encoder, cross = [], []
    for start in range(0, len(pieces), BATCH):
        check()
        seen = observe(model, pieces[start : start + BATCH])
        encoder.append(seen.encoder_hit)
        cross.append(seen.cross_hit)
    shares = {}
    for kind, parts in ((AttentionKind.ENCODER_SELF, encoder), (AttentionKind.CROSS, cross)):
        right = np.concatenate(parts)  # [2 · pairs, L, H]
        for layer, row in enumerate((right[0::2] & right[1::2]).mean(axis=0)):
            for head in model.config.kept_heads(kind, layer):
                shares[Head(kind, layer, head)] = float(row[head])
    return shares
