"""What speaks against the translations of passages, for the commands that say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.decoding.translate import Translation
    from core.text.passage import Passage
    from core.trace.doubts import Doubts


def passage_doubts(
    checkpoint: Checkpoint,
    passages: Sequence[Passage],
    translations: Sequence[tuple[Translation, ...]],
    progress: Callable[[int], None] = lambda done: None,
) -> list[Doubts]:
    """Return the doubts about each passage, those about its sentences together.

    Args:
        translations: of the sentences of each passage.
        progress: told how many sentences are done.
    """
    from core.analysis.doubting import translation_doubts
    from core.checkpoints.provenance import source_language
    from core.text.function_words import function_words
    from core.text.seen_words import SeenWords
    from core.trace.doubts import Doubts

    about = checkpoint.provenance
    found = iter(
        translation_doubts(
            checkpoint.model,
            checkpoint.tokenizer,
            [question for passage in passages for question in passage.questions],
            [part for parts in translations for part in parts],
            seen=SeenWords.of_model(about),
            function_words=function_words(source_language(about)),
            progress=progress,
        )
    )
    return [Doubts.joined(islice(found, len(parts))) for parts in translations]
