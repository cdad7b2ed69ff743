"""Which source words a translation takes up: those without which it would be less probable.

    u(w) = Σ_t [ln p(y_t | y_<t, x) − ln p(y_t | y_<t, x without w)]

The sum is over the tokens of the translation, without the end token. A word with u(w) ≤ 0 is left
untranslated: the same translation is just as probable for the text without it. Li et al. (2016,
arXiv 1612.08220) call this erasure.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from core.decoding.scoring import score_targets
from core.decoding.search import proceed
from core.model.transformer import Transformer
from core.text.tokens import Token, TokenKind
from core.text.words import join_pieces, word_spans
from core.trace.doubts import Uptake

MOST_TOKENS = 256
"""On either side: the model reads the pair once for each word."""

_BATCH_TOKENS = 512  # few, so that a newer question does not wait


def word_uptakes(
    model: Transformer,
    source: Sequence[Token],
    target: Sequence[int],
    function_words: Container[str],
    *,
    check: Callable[[], None] = proceed,
) -> list[Uptake]:
    """Return u(w) for each source word that is neither a function word nor punctuation, in order.

    It is empty for texts longer than ``MOST_TOKENS``.

    Args:
        model: in evaluation mode.
        source: the tokens of the text, without the end token.
        target: the ids of the translation, without specials.
        function_words: in lower case.
        check: called before each batch; what it raises ends the work.
    """
    if max(len(source), len(target)) > MOST_TOKENS:
        return []
    words = list(_content_words(source, function_words))
    ids = [token.id for token in source]
    without = [[id for place, id in enumerate(ids) if place not in span] for _, span in words]
    whole, *erased = score_targets(
        model,
        [ids, *without],
        [target] * (1 + len(without)),
        batch_tokens=_BATCH_TOKENS,
        check=check,
    )
    return [
        Uptake(word, span, float((whole - one)[:-1].double().sum()))
        for (word, span), one in zip(words, erased, strict=True)
    ]


def _content_words(
    source: Sequence[Token], function_words: Container[str]
) -> Iterator[tuple[str, range]]:
    for span in word_spans(source):
        tokens = source[span.start : span.stop]
        if any(token.kind is TokenKind.SPECIAL for token in tokens):
            continue
        word = join_pieces(tokens).label
        is_word = any(character.isalnum() for character in word)
        if is_word and word.casefold().replace("’", "'") not in function_words:
            yield word, span
