"""Which words of the two texts a cell of a map is about, in characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from core.analysis.evidence import Evidence
from core.analysis.words import Reading
from core.heads import AttentionKind
from core.text.tokenizer import Tokenizer
from core.text.tokens import Token
from core.text.words import word_span

Span = tuple[int, int]
"""[start, end) characters of a word."""


class Places:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._source = lru_cache(maxsize=None)(tokenizer.tokens)
        self._target = lru_cache(maxsize=None)(tokenizer.target.tokens)

    def query(self, evidence: Evidence, kind: AttentionKind, reading: str) -> Span | None:
        """The word of the row, in the source for the encoder and else in the target; None for
        special tokens. A row of the decoder stands for the token it is fed or, where ``reading``
        says so and in cross-attention unless it says otherwise, for the one it predicts.
        """
        if kind is AttentionKind.ENCODER_SELF:
            return _word(evidence.source, self._source, evidence.query)
        usual = Reading.PREDICTED if kind is AttentionKind.CROSS else Reading.FED
        fed = (reading or usual) == Reading.FED
        return _word(evidence.target, self._target, evidence.query - fed)

    def key(self, evidence: Evidence, kind: AttentionKind) -> Span | None:
        """The word of the column, in the target for decoder self-attention and else in the
        source."""
        if kind is AttentionKind.DECODER_SELF:
            return _word(evidence.target, self._target, evidence.key - 1)
        return _word(evidence.source, self._source, evidence.key)


def _word(text: str, tokens_of: Callable[[str], Sequence[Token]], index: int) -> Span | None:
    tokens = tokens_of(text)
    if not 0 <= index < len(tokens):
        return None
    word = word_span(tokens, index)
    start, end = tokens[word.start].start, tokens[word.stop - 1].end
    return end - len(text[start:end].lstrip()), end
