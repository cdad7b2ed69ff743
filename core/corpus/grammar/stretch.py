"""The same sentence with words inserted between two that belong together.

The inserted words are places after a noun, "behind the new houses near the big towers", of equal
length in both languages. Their nouns have the other number than the noun that they follow, so that
neither "it" nor a verb can mean one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from random import Random

from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.draft import held_out
from core.corpus.grammar.entries import (
    Adjective,
    Case,
    Noun,
    Number,
    Preposition,
    SemanticClass,
)
from core.corpus.grammar.lexicon import NAMES, NOUNS
from core.corpus.grammar.morphology import attributive, english_noun, noun_form
from core.corpus.grammar.sentence import Sentence, detokenise
from core.corpus.grammar.specifiers import THE
from core.corpus.grammar.vocabulary import adjective, adverb, nouns, preposition
from core.errors import UserError

LONGEST = 64
PLACE = 4  # words of "behind the new houses"
PREPOSITIONS = ("behind", "near", "opposite")
ADJECTIVES = (
    *("small", "famous", "new", "spacious", "beautiful", "empty", "magnificent", "dusty"),
    *("elegant", "white", "gray", "historic"),
)
"""Of buildings; none of them is ever the reason why something happens to "it"."""

TO_A_NOUN = (
    DependencyKind.COREFERENCE,
    DependencyKind.POSSESSIVE,
    DependencyKind.SUBJECT_VERB,
)
"""Stretched right behind the noun."""

BRACKETS = (
    DependencyKind.PARTICLE,
    DependencyKind.PERFECT,
    DependencyKind.FUTURE,
    DependencyKind.MODAL,
    DependencyKind.PASSIVE,
    DependencyKind.SUBORDINATE,
)
"""Stretched behind the last noun between the two words, on the German side alone: the English
words stand together."""

STRETCHABLE = (*TO_A_NOUN, *BRACKETS)
"""Where the words between leave one reading: a relative pronoun could mean the last of them."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A place where words can be inserted: after the noun at these word indices."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Filler:
    """An inserted word, its translation, and its part of speech."""

    english: str
    german: str
    tag: str


def stretch(sentence: Sentence, words: int, kind: DependencyKind) -> Sentence:
    """Return ``sentence`` with ``words`` more words between the two words of its dependency, in
    each language.

    Both sentences of a minimal pair get the same words, and a longer stretch begins with the same
    places as a shorter one.

    Raises:
        UserError: the sentence has no gap, or ``words`` is not between 0 and 64.
    """
    if not 0 <= words <= LONGEST:
        raise UserError(f"{words} words cannot be inserted; choose 0 to {LONGEST}.")
    gap = find_gap(sentence, kind)
    if gap is None:
        raise UserError(f"There is no place for more words in {sentence.source!r}.")
    before = sentence.source_words[: gap.source + 1]
    phrases = fillers(words, behind=before[-1], seed=" ".join(before), used=sentence.source_words)
    return _inserted(sentence, gap, phrases)


def stretch_text(text: str, words: int) -> str:
    """Return any English text with ``words`` more words before its first conjunction, or else at
    its end.

    Raises:
        UserError: ``words`` is not between 0 and 64, or no word is there that they could follow.
    """
    if not 0 <= words <= LONGEST:
        raise UserError(f"{words} words cannot be inserted; choose 0 to {LONGEST}.")
    inside = (found.start() for found in _CONJUNCTION.finditer(text))
    last = len(text.rstrip().rstrip(".?!").rstrip())
    end = next((start for start in inside if text[:start].strip()), last)
    before = text[:end].split()
    if not before:
        raise UserError("There is no word here that others could follow.")
    phrases = fillers(words, behind=before[-1], seed=" ".join(before), used=text.split())
    inserted = [word.english for phrase in phrases for word in phrase]
    return " ".join([text[:end], *inserted]) + text[end:]


_CONJUNCTION = re.compile(
    r",?\s+(?:although|and|because|but|if|or|since|so|until|when|whether|while)\b|,(?=\s)",
    re.IGNORECASE,
)


def find_gap(sentence: Sentence, kind: DependencyKind) -> Gap | None:
    """Find a place after a noun that no phrase of its own follows, between the words of a
    dependency."""
    partners = _partners(sentence)
    for dependency in sentence.dependencies:
        if dependency.kind is not kind or dependency.side is not Side.TARGET:
            continue
        for target in _candidates(sentence, dependency):
            source = partners.get(target)
            if source is not None and _is_free(sentence, source):
                return Gap(source, target)
    return None


def _candidates(sentence: Sentence, dependency: Dependency) -> Sequence[int]:
    """German words that more words may follow, the best first."""
    start, end = dependency.start, dependency.end
    if dependency.kind is DependencyKind.COREFERENCE:
        others = [
            other.end
            for other in sentence.dependencies
            if other.kind is DependencyKind.DISTRACTOR and other.side is Side.TARGET
        ]
        end = max([end, *others])
    if end > start:
        return ()
    return (end,) if dependency.kind in TO_A_NOUN else range(start - 1, end, -1)


def _partners(sentence: Sentence) -> dict[int, int]:
    """The English noun of each German word that translates one and nothing else."""
    sources: dict[int, list[int]] = {}
    targets: dict[int, list[int]] = {}
    for source, target in sentence.alignment:
        sources.setdefault(target, []).append(source)
        targets.setdefault(source, []).append(target)
    return {
        target: found[0]
        for target, found in sources.items()
        if len(found) == len(targets[found[0]]) == 1 and sentence.source_tags[found[0]] == "noun"
    }


def _is_free(sentence: Sentence, noun: int) -> bool:
    """Whether no preposition, relative pronoun or other noun continues the noun's phrase."""
    following = noun + 1
    return (
        sentence.source_tags[following] not in ("preposition", "noun")
        and sentence.source_words[following] not in _RELATIVES
    )


_RELATIVES = ("that", "who", "whom", "whose", "which")


def fillers(
    words: int, *, behind: str, seed: str, used: Sequence[str] = ()
) -> list[tuple[Filler, ...]]:
    """Return phrases of ``words`` words in all that may follow the English noun ``behind``.

    ``used`` are words of the sentence; its buildings do not come again.
    """
    number = Number.SINGULAR if behind in _plurals() else Number.PLURAL
    phrases = _phrases(number, Random(seed), frozenset(used))
    return [next(phrases)[length] for length in _lengths(words)]


def _lengths(words: int) -> list[int]:
    """Places of four words; the last one is longer or shorter, or follows as one more."""
    full, rest = divmod(words, PLACE)
    if rest == 1 and full:
        return [PLACE] * (full - 1) + [PLACE + 1]
    return [PLACE] * full + [rest] * (rest > 0)


def _phrases(
    number: Number, random: Random, used: frozenset[str]
) -> Iterator[dict[int, tuple[Filler, ...]]]:
    """One place after the other without end, each in all its lengths."""
    buildings = [
        noun
        for noun in nouns(SemanticClass.BUILDING)
        if not used & {noun.english, noun.english_plural}
    ]
    places, adjectives = list(PREPOSITIONS), list(ADJECTIVES)
    for choices in (buildings, places, adjectives):
        random.shuffle(choices)
    for place, building in zip(cycle(places), cycle(buildings)):
        name = random.choice(NAMES).text
        fitting = [one for one in adjectives if not held_out(building.english, one)]
        adjectives.remove(fitting[0])
        adjectives.append(fitting[0])
        yield _place(preposition(place), building, adjective(fitting[0]), name, number)


def _place(
    where: Preposition, building: Noun, described: Adjective, name: str, number: Number
) -> dict[int, tuple[Filler, ...]]:
    """ "there", "behind houses" or "behind Anna", "behind the houses", and with one or two more."""
    there, very = (
        Filler(entry.english, entry.german, "adverb") for entry in (adverb("there"), adverb("very"))
    )
    behind = Filler(where.english, where.german, "preposition")
    the = Filler(THE.english(number), THE.german(Case.DATIVE, number, building.gender), THE.tag)
    new = Filler(
        described.english,
        attributive(described, Case.DATIVE, number, building.gender, THE.declension),
        "adjective",
    )
    houses = Filler(
        english_noun(building, number), noun_form(building, Case.DATIVE, number), "noun"
    )
    bare = houses if number is Number.PLURAL else Filler(name, name, "name")
    return {
        1: (there,),
        2: (behind, bare),
        3: (behind, the, houses),
        4: (behind, the, new, houses),
        5: (behind, the, very, new, houses),
    }


@cache
def _plurals() -> frozenset[str]:
    return frozenset(noun.english_plural for noun in NOUNS if noun.countable)


def _inserted(sentence: Sentence, gap: Gap, phrases: Sequence[tuple[Filler, ...]]) -> Sentence:
    words = [word for phrase in phrases for word in phrase]
    count = len(words)
    at = {Side.SOURCE: gap.source + 1, Side.TARGET: gap.target + 1}

    def moved(index: int, side: Side) -> int:
        return index + count * (index >= at[side])

    source_words = _with(sentence.source_words, at[Side.SOURCE], [word.english for word in words])
    target_words = _with(sentence.target_words, at[Side.TARGET], [word.german for word in words])
    return replace(
        sentence,
        source=detokenise(source_words),
        target=detokenise(target_words),
        source_words=source_words,
        target_words=target_words,
        source_tags=_with(sentence.source_tags, at[Side.SOURCE], [word.tag for word in words]),
        alignment=tuple(
            sorted(
                [
                    *(
                        (moved(source, Side.SOURCE), moved(target, Side.TARGET))
                        for source, target in sentence.alignment
                    ),
                    *((at[Side.SOURCE] + index, at[Side.TARGET] + index) for index in range(count)),
                ]
            )
        ),
        dependencies=(
            *(
                replace(
                    dependency,
                    start=moved(dependency.start, dependency.side),
                    end=moved(dependency.end, dependency.side),
                )
                for dependency in sentence.dependencies
            ),
            *(
                Dependency(DependencyKind.ATTRIBUTE, side, first + index, first + index + 1)
                for side, first in at.items()
                for index, word in enumerate(words)
                if word.tag == "adjective"
            ),
        ),
        tree=_in_tree(sentence.tree, gap.source, phrases),
    )


def _with(words: Sequence[str], index: int, more: Sequence[str]) -> tuple[str, ...]:
    return (*words[:index], *more, *words[index:])


def _in_tree(tree: str, leaf: int, phrases: Sequence[tuple[Filler, ...]]) -> str:
    """The brackets with the phrases behind a leaf, in its constituent."""
    leaves = [found for found in _PART.finditer(tree) if not found[0].startswith("(")]
    end = leaves[leaf].end()
    return tree[:end] + "".join(" " + _brackets(phrase) for phrase in phrases) + tree[end:]


_PART = re.compile(r"\(?[^\s()]+")


def _brackets(phrase: tuple[Filler, ...]) -> str:
    first, *rest = [word.english for word in phrase]
    return f"(PP {first} (NP {' '.join(rest)}))" if rest else f"(ADVP {first})"
