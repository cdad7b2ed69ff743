"""What speaks against translations that a model has made."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from core.analysis.uptake import word_uptakes
from core.decoding.scoring import score_targets
from core.decoding.search import proceed
from core.decoding.translate import Translation
from core.model.transformer import Transformer
from core.text.seen_words import SeenWords
from core.text.tokenizer import Tokenizer
from core.trace.doubts import Doubts, target_words


def translation_doubts(
    model: Transformer,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    translations: Sequence[Translation],
    *,
    seen: SeenWords | None = None,
    function_words: Container[str] | None = None,
    check: Callable[[], None] = proceed,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Doubts]:
    """Return the doubts about each text's translation; none about a text without a visible
    character.

    Args:
        model: in evaluation mode, the one that made the translations.
        seen: the words of its training text, if they are known.
        function_words: of the source language; without them, no word is called untranslated.
        check: called before each batch; what it raises ends the work.
        progress: told how many texts are done.
    """
    target = tokenizer.target
    sources = [tokenizer.tokens(text) for text in texts]
    visible = [index for index, tokens in enumerate(sources) if tokens]
    scored = score_targets(
        model,
        [[token.id for token in sources[index]] for index in visible],
        [translations[index].ids for index in visible],
        check=check,
    )
    doubts = [Doubts(words=0, guesses=0)] * len(texts)
    for done, (index, log_probabilities) in enumerate(zip(visible, scored, strict=True), start=1):
        ids = translations[index].ids
        words = target_words(
            [target.token(id) for id in (*ids, target.eos_id)], log_probabilities.tolist()
        )
        untranslated = (
            [
                one.word
                for one in word_uptakes(model, sources[index], ids, function_words, check=check)
                if one.is_untranslated
            ]
            if function_words is not None
            else []
        )
        unsure = list(seen.unsure(texts[index])) if seen is not None else []
        doubts[index] = Doubts.of(words, unsure, untranslated)
        progress(done)
    return doubts
