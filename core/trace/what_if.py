"""What would the model do without positions, or with the words in another order?"""

from __future__ import annotations

from collections.abc import Callable

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import proceed
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.trace.record import trace_text, trace_tokens
from core.trace.variant import Variant, largest_difference, reordered, shuffled_words


def trace_variant(
    model: Transformer,
    tokenizer: Tokenizer,
    text: str,
    *,
    positions: bool = True,
    seed: int | None = None,
    search: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> Variant:
    """The sentence as it is, and once more as told; each is translated by itself.

    The order changes token by token, so that the same pieces enter the model whatever the
    tokenizer would make of the shuffled text.

    Args:
        model: in evaluation mode.
        positions: whether the variant has positions, in encoder and decoder.
        seed: of the shuffle; None leaves the order as it is.

    Raises:
        UserError: as ``trace_text``, or there is a single word to shuffle.
    """
    without = model.without_positions()
    changed = model if positions else without
    if seed is None:
        reference = trace_text(model, tokenizer, text, search=search, check=check)
        trace = trace_text(changed, tokenizer, text, search=search, check=check)
        order: tuple[int, ...] = tuple(range(len(reference.source_tokens)))
    else:
        reference = trace_text(changed, tokenizer, text, search=search, check=check)
        words = reference.source_tokens[:-1]
        moved = shuffled_words(words, seed)
        tokens, shuffled = reordered(words, text, moved)
        trace = trace_tokens(changed, tokenizer, tokens, text=shuffled, search=search, check=check)
        order = (*moved, len(words))
    return Variant(
        reference=reference,
        trace=trace,
        order=order,
        positions=positions,
        difference=largest_difference(reference, trace, order, check),
    )
