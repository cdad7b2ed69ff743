"""Which sentences the vocabulary is learned from."""

from __future__ import annotations

from collections.abc import Iterator

from core.training.config import TrainingConfig
from core.training.preparation import Watch
from core.training.survey import Survey
from core.training.texts import grammar_sample, training_rows

VOCABULARY_PAIRS = 500_000
VOCABULARY_CHARACTERS = 100_000_000
WHOLE_WORD_COUNT = 500


def tokenizer_lines(survey: Survey, config: TrainingConfig, watch: Watch) -> Iterator[str]:
    """Return the sentences of both languages that the vocabulary is learned from.

    Of a large corpus these are ``VOCABULARY_PAIRS`` or ``VOCABULARY_CHARACTERS``, whichever are
    fewer, spread evenly over the files. ``whole_words`` count as if they stood there
    ``WHOLE_WORD_COUNT`` times more, which byte-pair encoding then merges into one piece.
    """
    total = survey.pairs
    wanted = min(total, VOCABULARY_PAIRS)
    if survey.characters > VOCABULARY_CHARACTERS:
        wanted = min(wanted, total * VOCABULARY_CHARACTERS // survey.characters)
    rows = training_rows(config, survey.validation, watch, "learning the vocabulary")
    for index, (_, _, source, target) in enumerate(rows):
        if (index + 1) * wanted // total > index * wanted // total:
            yield source
            yield target
    for sentence in grammar_sample(config):
        yield sentence.source
        yield sentence.target
    for word in config.whole_words:
        yield " ".join([word] * WHOLE_WORD_COUNT)
