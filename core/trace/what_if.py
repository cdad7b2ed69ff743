"""What would the model do without positions, or with the words in another order?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import proceed
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.trace.record import trace_text, trace_tokens
from core.trace.variant import (
    Variant,
    arranged_words,
    largest_difference,
    reordered,
    shuffled_words,
)


def trace_variant(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    *,
    positions: bool = True,
    order: int | Sequence[int] | None = None,
    search: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> Variant:
    """The sentence as it is, and once more as told; each is translated by itself.

    The order changes token by token, so that the same pieces enter the model whatever the
    tokenizer would make of the shuffled text.

    Args:
        model: in evaluation mode.
        positions: whether the variant has positions, in encoder and decoder.
        order: the words by their places, from 0; or the seed of a shuffle; None leaves the order
            as it is.

    Raises:
        UserError: as ``trace_text``, or there is a single word to shuffle, or the order does not
            name each word once.
    """
    without = model.without_positions()
    changed = model if positions else without
    if order is None:
        reference = trace_text(model, tokenizer, text, search=search, check=check)
        trace = trace_text(changed, tokenizer, text, search=search, check=check)
        moved: tuple[int, ...] = tuple(range(len(reference.source_tokens)))
    else:
        reference = trace_text(changed, tokenizer, text, search=search, check=check)
        words = reference.source_tokens[:-1]
        if isinstance(order, int):
            found = shuffled_words(words, order)
        else:
            found = arranged_words(words, order)
        tokens, shuffled = reordered(words, text, found)
        trace = trace_tokens(changed, tokenizer, tokens, text=shuffled, search=search, check=check)
        moved = (*found, len(words))
    return Variant(
        reference=reference,
        trace=trace,
        order=moved,
        positions=positions,
        difference=largest_difference(reference, trace, moved, check),
    )
