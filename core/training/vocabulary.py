"""Which sentences the vocabulary is learned from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from core.parsing.reader import Inventory, take_inventory
from core.training.config import PARSING, TrainingConfig
from core.training.preparation import Watch
from core.training.survey import Survey
from core.training.texts import grammar_sample, sides, training_rows

VOCABULARY_PAIRS = 500_000
VOCABULARY_CHARACTERS = 100_000_000
WHOLE_WORD_COUNT = 500


def tokenizer_lines(
    survey: Survey, config: TrainingConfig, watch: Watch, names: Sequence[str] = ()
) -> Iterator[str]:
    """Return the sentences of both languages that the vocabulary is learned from.

    Of a large corpus these are ``VOCABULARY_PAIRS`` or ``VOCABULARY_CHARACTERS``, whichever are
    fewer, spread evenly over the files. ``whole_words`` and ``names`` count as if they stood there
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
        yield from sides(sentence, config)
    for word in (*config.whole_words, *names):
        yield " ".join([word] * WHOLE_WORD_COUNT)


def tree_names(survey: Survey, config: TrainingConfig, watch: Watch) -> Inventory:
    """Return the labels and tags in the data of a parser, and nothing for other tasks.

    Raises:
        UserError: a name is a label here and a tag there, or there are far too many.
    """
    if config.task != PARSING:
        return Inventory()
    rows = training_rows(config, survey.validation, watch, "collecting labels")
    return take_inventory(
        chain(
            (target for _, _, _, target in rows),
            (sides(sentence, config)[1] for sentence in grammar_sample(config)),
            chain.from_iterable(survey.validation.values()),
        )
    )
