"""One sentence run twice: as it is, and without positions or in another order.

Legend: S source tokens, the end token among them; W words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import UserError
from core.text.tokens import Token, TokenKind
from core.trace.trace import AttentionKind, Floats, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A sentence in another order or without positions, beside the reference.

    Attributes:
        reference: the sentence in its own order. It has positions, unless the variant lacks them
            and is shuffled as well: then it lacks them too, so that one thing differs.
        trace: the variant.
        order: [S], which token of the reference each source token of the variant is.
        positions: whether the variant has them.
        difference: ``largest_difference`` of the two.
    """

    reference: Trace
    trace: Trace
    order: tuple[int, ...]
    positions: bool
    difference: float

    @property
    def shuffled(self) -> bool:
        return self.order != tuple(range(len(self.order)))


def restored(weights: Floats, order: Sequence[int]) -> Floats:
    """An encoder head's map of a variant, [S, S], rows and columns put back in order."""
    back = np.argsort(order)
    return weights[np.ix_(back, back)]


def largest_difference(
    reference: Trace, variant: Trace, order: Sequence[int], check: Callable[[], None]
) -> float:
    """Return the largest |difference| between a weight of the reference and the same weight of the
    variant put back in order, over all encoder heads. ``check`` is called before each head."""
    kind = AttentionKind.ENCODER_SELF
    largest = 0.0
    for head in reference.every_head(kind):
        check()
        put_back = restored(variant.weights(*head), order)
        difference = np.abs(put_back - reference.weights(*head)).max()
        largest = max(largest, float(difference))
    return largest


def words_of(tokens: Sequence[Token]) -> tuple[tuple[int, ...], ...]:
    """Return the tokens of each word that can change its place, by index: the pieces of a word stay
    together, and a language token at the start stays where it is."""
    words: list[list[int]] = []
    for index, token in enumerate(tokens):
        if index == 0 and token.kind is TokenKind.SPECIAL:
            continue
        if token.starts_word or not words:
            words.append([])
        words[-1].append(index)
    return tuple(map(tuple, words))


def shuffled_words(tokens: Sequence[Token], seed: int) -> tuple[int, ...]:
    """The tokens in another order, by index: words are shuffled, a word's pieces stay together.

    A language token at the start stays there.

    Raises:
        UserError: there is one word only.
    """
    count = len(words_of(tokens))
    if count < 2:
        raise UserError("This sentence has only one word, so there is nothing to shuffle.")
    generator = np.random.default_rng(seed)
    order = generator.permutation(count)
    while (order == np.arange(count)).all():
        order = generator.permutation(count)
    return arranged_words(tokens, order.tolist())


def arranged_words(tokens: Sequence[Token], order: Sequence[int]) -> tuple[int, ...]:
    """The tokens in another order, by index; ``order`` names the words in it, from 0.

    Raises:
        UserError: ``order`` does not name each word once.
    """
    words = words_of(tokens)
    if sorted(order) != list(range(len(words))):
        raise UserError(
            f"The order must name each of the {len(words)} words of the sentence once, from 0."
        )
    start = words[0][0] if words else 0
    return (*range(start), *(index for word in order for index in words[word]))


def reordered(tokens: Sequence[Token], text: str, order: Sequence[int]) -> tuple[list[Token], str]:
    """The tokens in this order, and the text that they then cover, one space between words."""
    result: list[Token] = []
    written = ""
    for index in order:
        token = tokens[index]
        piece = text[token.start : token.end]
        if token.starts_word or index == 0:
            piece = " " * bool(written) + piece.lstrip()
        result.append(replace(token, start=len(written), end=len(written) + len(piece)))
        written += piece
    return result, written
