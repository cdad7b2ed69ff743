"""The sentences that an analysis is made over."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from core.corpus.aligned import group_by_source, read_aligned, read_lines
from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence
from core.corpus.spec import is_translated, names_of
from core.errors import UserError
from core.fields import require

GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The sentences of an analysis.

    Attributes:
        name: the name of the corpus.
        sources: the texts; each text of a file occurs once.
        references: the translations of each source; empty for text in one language.
        gold: the generated sentences themselves, in the same order; empty for files.
        read: how the reading of translated files went and which lines were skipped, in words.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...] = ()
    gold: tuple[Sentence, ...] = ()
    read: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """The first translation of each source."""
        return tuple(references[0] for references in self.references)


def read_sample(corpus: str, sentences: int, *, seed: int = 0) -> Sample:
    """Read up to ``sentences`` sentences, from files the first ones.

    Args:
        corpus: "grammar" for generated sentences of the test split; FILE.tsv, FILE:2:4, FILE.tmx or
            SRC,TGT for translated text; another file for text of one language, a sentence a line.
        seed: the seed of the generated sentences.

    Raises:
        UserError: a file cannot be read, or contains no sentence, or ``sentences`` is below 1.
    """
    require(sentences >= 1, "sentences", sentences, "1 or more")
    if corpus == GRAMMAR:
        gold = tuple(generate(sentences, seed=seed, split="test"))
        return Sample(
            name=corpus,
            sources=tuple(sentence.source for sentence in gold),
            references=tuple((sentence.target,) for sentence in gold),
            gold=gold,
        )
    if is_translated(corpus):
        text = read_aligned(corpus)
        translated = dict(islice(group_by_source(text.pairs).items(), sentences))
        return Sample(
            name=names_of(corpus)[0],
            sources=tuple(_required(corpus, list(translated))),
            references=tuple(map(tuple, translated.values())),
            read=text.report.summary(),
        )
    lines = [line for line in read_lines(Path(corpus)) if line.strip()]
    distinct = list(dict.fromkeys(lines))[:sentences]
    return Sample(name=Path(corpus).name, sources=tuple(_required(corpus, distinct)))


def _required(corpus: str, sentences: list[str]) -> list[str]:
    if not sentences:
        raise UserError(f"{corpus} contains no sentences; choose another --corpus.")
    return sentences
