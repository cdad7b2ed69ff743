"""Minimal pairs: two sentences that differ in one English adjective and in what "it" means."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from core.corpus.grammar.dependencies import DependencyKind, Side
from core.corpus.grammar.draft import TRAIN, Draft
from core.corpus.grammar.families.coreference import coreference
from core.corpus.grammar.registry import check_split, finished
from core.corpus.grammar.sentence import PUNCTUATION, Sentence
from core.errors import UserError

MAX_DISTANCE = 12
LONG_DISTANCE = 5
FAMILY = "coreference"


def minimal_pairs(
    count: int, *, seed: int, split: str = TRAIN, distance: int | None = None
) -> Iterator[tuple[Sentence, Sentence]]:
    """Generate ``count`` coreference pairs; their antecedents differ in German gender.

    The first sentence's antecedent is the agent, or what is acted on where a person acts; the
    second's is the other noun. ``distance`` asks for exactly so many words, not counting
    punctuation marks, between the later noun and "it"; it runs from 0 to 12. Raises UserError
    for another distance and for an unknown split.
    """
    check_split(split)
    if distance is not None and not 0 <= distance <= MAX_DISTANCE:
        raise UserError(f"distance {distance} is not between 0 and {MAX_DISTANCE}")
    random = Random(f"pairs {seed} {split}")
    long = distance is not None and distance >= LONG_DISTANCE
    made = 0
    while made < count:
        draft = Draft(random, split)
        sentences = finished(coreference(draft, long=long), draft, FAMILY)
        if not sentences or (distance is not None and pair_distance(sentences[0]) != distance):
            continue
        pair = as_pair(sentences[0], sentences[1], f"{split}-{seed}-pair-{made}")
        if pair[0].pair is None:
            continue
        made += 1
        yield pair


def as_pair(first: Sentence, second: Sentence, name: str) -> tuple[Sentence, Sentence]:
    """The two readings, sharing ``name`` as their pair if their pronouns differ in German."""
    if _german_pronoun(first) == _german_pronoun(second):
        return first, second
    return first.with_pair(name), second.with_pair(name)


def pair_distance(sentence: Sentence) -> int | None:
    """The words between the later of the two nouns and "it"; None where "it" comes first."""
    it, *others = (
        index
        for dependency in sentence.dependencies
        if dependency.side is Side.SOURCE
        and dependency.kind in (DependencyKind.COREFERENCE, DependencyKind.DISTRACTOR)
        for index in (dependency.start, dependency.end)
    )
    last = max(index for index in others if index != it)
    if last > it:
        return None
    return sum(word not in PUNCTUATION for word in sentence.source_words[last + 1 : it])


def _german_pronoun(sentence: Sentence) -> str:
    for dependency in sentence.dependencies:
        if dependency.kind is DependencyKind.COREFERENCE and dependency.side is Side.TARGET:
            return sentence.target_words[dependency.start].lower()
    raise ValueError(f"no coreference in {sentence.source!r}")
