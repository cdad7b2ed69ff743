"""The public door of the grammar: streams of sentences by family, split and seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random

from core.corpus.grammar.draft import TRAIN
from core.corpus.grammar.pairs import as_pair, minimal_pairs
from core.corpus.grammar.registry import FAMILIES, build, check_families, check_split
from core.corpus.grammar.sentence import Sentence, detokenise

__all__ = ["FAMILIES", "Sentence", "detokenise", "generate", "minimal_pairs"]


def generate(
    count: int,
    *,
    seed: int,
    split: str = TRAIN,
    families: Sequence[str] | None = None,
    wide: bool = False,
) -> Iterator[Sentence]:
    """Yield ``count`` sentences of the named families (default: all), mixed by weight.

    The stream depends on the arguments alone, and a shorter one is the beginning of a longer one.
    The two readings of a coreference sentence follow each other; where the antecedents' genders
    differ they share a ``pair``. ``wide`` draws from the whole lexicon, wide entries included.
    Raises UserError for an unknown family or split.
    """
    names = check_families(families)
    check_split(split)
    random = Random(f"{seed} {split}")
    cumulative = list(accumulate(FAMILIES[name] for name in names))
    made = 0
    while made < count:
        (family,) = random.choices(names, cum_weights=cumulative)
        sentences = build(family, random, split, wide=wide)
        if len(sentences) == 2:
            sentences = as_pair(sentences[0], sentences[1], f"{split}-{seed}-{made}")
        for sentence in sentences[: count - made]:
            made += 1
            yield sentence
