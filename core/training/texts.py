"""The text of a run, streamed from its files whenever it is needed, or drawn from the grammar."""

from __future__ import annotations

from collections.abc import Container, Iterator

from core.corpus.aligned import PairReader, pair_reader
from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence
from core.corpus.read_report import Row
from core.parsing.gold import gold_tree, parsing_pair
from core.parsing.reader import TreeReader
from core.training.config import GRAMMAR, PARSING, TrainingConfig
from core.training.held_out import Pair
from core.training.preparation import ROWS_BETWEEN_CALLS, Watch

SAMPLE_SENTENCES = 20_000
_SENTENCES_BETWEEN_CALLS = 1_000
CHUNK_ROWS = 20_000
CHUNK_CHARACTERS = 10_000_000

Reader = PairReader | TreeReader
TrainingRow = tuple[str, int, str, str]  # what its files are called, number of the line, both sides


def training_rows(
    config: TrainingConfig, held_out: Container[str], watch: Watch, what: str
) -> Iterator[TrainingRow]:
    """Yield every pair of the files whose source is not held out, in order.

    Args:
        what: is being done with the rows.
    """
    for spec in config.data:
        if spec != GRAMMAR:
            reader = open_reader(spec, config)
            name = reader.report.name
            for line, source, target in watched(reader, f"{what}: {name}", watch):
                if source not in held_out:
                    yield name, line, source, target


def open_reader(spec: str, config: TrainingConfig) -> Reader:
    """Return a reader of what a spec names: trees for a parser, translations for the others.

    Raises:
        UserError: a file cannot be opened.
    """
    return TreeReader(spec) if config.task == PARSING else pair_reader(spec)


def sides(sentence: Sentence, config: TrainingConfig) -> Pair:
    """Return what a generated sentence is as source and target of the task."""
    if config.task == PARSING:
        return parsing_pair(gold_tree(sentence))
    return sentence.source, sentence.target


def watched(reader: Reader, what: str, watch: Watch) -> Iterator[Row]:
    """Yield all rows; ``watch`` is told from time to time how many bytes have been read."""
    for count, row in enumerate(reader, start=1):
        if count % ROWS_BETWEEN_CALLS == 0:
            watch(what, reader.position, reader.size)
        yield row


def grammar_validation(config: TrainingConfig, watch: Watch) -> Iterator[Pair]:
    """Return the sentences of the grammar's test split, which training never sees."""
    if GRAMMAR in config.data:
        total = config.validation_pairs
        for done, sentence in enumerate(_generate(config, total, "test"), start=1):
            if done % _SENTENCES_BETWEEN_CALLS == 0:
                watch("generating validation sentences", done, total)
            yield sides(sentence, config)


def grammar_sample(config: TrainingConfig) -> Iterator[Sentence]:
    """Return the same generated sentences for the vocabulary and for the known words."""
    if GRAMMAR in config.data:
        count = min(config.grammar_pairs, SAMPLE_SENTENCES)
        yield from _generate(config, count, "train")


def _generate(config: TrainingConfig, count: int, split: str) -> Iterator[Sentence]:
    families = config.grammar_families or None
    return generate(
        count, seed=config.seed, split=split, families=families, wide=config.grammar_wide
    )


def chunks(rows: Iterator[TrainingRow]) -> Iterator[list[TrainingRow]]:
    """Yield the rows in lists of at most ``CHUNK_ROWS`` and about ``CHUNK_CHARACTERS``."""
    chunk: list[TrainingRow] = []
    characters = 0
    for row in rows:
        chunk.append(row)
        characters += len(row[2]) + len(row[3])
        if len(chunk) == CHUNK_ROWS or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk
