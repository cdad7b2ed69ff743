"""One sentence run twice: as it is, and without positions or in another order.

Legend: S source tokens, the end token among them; W words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import UserError
from core.text.tokens import Token
from core.trace.trace import AttentionKind, Floats, Head, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """
    Attributes:
        reference: the sentence in its own order. It has positions, unless the variant lacks them
            and is shuffled as well: then it lacks them too, so that one thing differs.
        trace: the variant.
        order: [S], which token of the reference each source token of the variant is.
        positions: whether the variant has them.
    """

    reference: Trace
    trace: Trace
    order: tuple[int, ...]
    positions: bool

    @property
    def shuffled(self) -> bool:
        return self.order != tuple(range(len(self.order)))

    def restored(self, head: Head) -> Floats:
        """An encoder head's map of the variant, [S, S], rows and columns put back into the order
        of the reference."""
        weights = self.trace.weights(*head)
        back = np.argsort(self.order)
        return weights[np.ix_(back, back)]


def encoder_heads(trace: Trace) -> Iterator[Head]:
    kind = AttentionKind.ENCODER_SELF
    for layer in range(trace.layers(kind)):
        for head in range(trace.heads(kind, layer)):
            yield Head(kind, layer, head)


def largest_difference(variant: Variant, check: Callable[[], None]) -> float:
    """Max |difference| of a weight of the reference from the same weight of the variant put back
    in order, over all encoder heads. ``check`` is called before each head."""
    largest = 0.0
    for head in encoder_heads(variant.reference):
        check()
        difference = variant.restored(head) - variant.reference.weights(*head)
        largest = max(largest, float(np.abs(difference).max()))
    return largest


def shuffled_words(tokens: Sequence[Token], seed: int) -> tuple[int, ...]:
    """The tokens in another order, by index: words are shuffled, a word's pieces stay together.

    Raises:
        UserError: there is one word only.
    """
    words: list[list[int]] = []
    for index, token in enumerate(tokens):
        if token.starts_word or not words:
            words.append([])
        words[-1].append(index)
    if len(words) < 2:
        raise UserError("This sentence has a single word, so there is nothing to shuffle.")
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(words))
    while (order == np.arange(len(words))).all():
        order = generator.permutation(len(words))
    return tuple(index for word in order for index in words[word])


def reordered(tokens: Sequence[Token], text: str, order: Sequence[int]) -> tuple[list[Token], str]:
    """The tokens in this order, and the text that they then cover, one space between words."""
    result: list[Token] = []
    written = ""
    for index in order:
        token = tokens[index]
        piece = text[token.start : token.end]
        if token.starts_word:
            piece = " " * bool(written) + piece.lstrip()
        result.append(replace(token, start=len(written), end=len(written) + len(piece)))
        written += piece
    return result, written
