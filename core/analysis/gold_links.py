"""What the grammar asks of a head: at which words it should look from which word.

Words are counted in the sentence of their side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from core.analysis.words import Reading, readings
from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.sentence import PUNCTUATION, Sentence
from core.heads import AttentionKind

ATTRACTED = "attracted_subject"
ALIGNMENT = "alignment"


def relation_name(kind: DependencyKind) -> str:
    return "subject" if kind is DependencyKind.SUBJECT_VERB else kind.value


RELATIONS: Mapping[str, frozenset[DependencyKind]] = MappingProxyType(
    {
        **{
            relation_name(kind): frozenset({kind})
            for kind in DependencyKind
            if kind is not DependencyKind.DISTRACTOR
        },
        ATTRACTED: frozenset({DependencyKind.SUBJECT_VERB}),
        "auxiliary": frozenset(
            {
                DependencyKind.PERFECT,
                DependencyKind.FUTURE,
                DependencyKind.MODAL,
                DependencyKind.PASSIVE,
            }
        ),
        ALIGNMENT: frozenset(),
    }
)
"""What is asked for by name: each kind of dependency, "auxiliary" for the four kinds of verb and
auxiliary together, of the subjects those that another noun stands between, and "alignment", which
is no dependency. A distractor, the noun that "it" does not mean, is no answer."""

PARTS: Mapping[str, str] = MappingProxyType(
    {
        relation_name(kind): "auxiliary"
        for kind in (
            DependencyKind.PERFECT,
            DependencyKind.FUTURE,
            DependencyKind.MODAL,
            DependencyKind.PASSIVE,
        )
    }
)
"""Relations whose links are all links of a more general one, with that one."""


class Direction(StrEnum):
    """The way of a link: from the word that needs another one to that one, or back."""

    FORWARD = "forward"
    BACKWARD = "backward"


class Question(NamedTuple):
    """What is counted: in maps of one kind, one relation, one way, by one reading of the rows."""

    kind: AttentionKind
    relation: str
    direction: Direction
    reading: Reading | None


class Link(NamedTuple):
    """A word and those that it should look at, one of which suffices; word indices.

    ``aligned``: of cross-attention, the readings by which a head that merely aligns words looks at
    one of these keys from the same row, or from the one that is fed the word.
    """

    question: Question
    query: int
    keys: frozenset[int]
    aligned: frozenset[Reading] = frozenset()


def gold_links(
    sentence: Sentence, relations: Mapping[str, frozenset[DependencyKind]] = RELATIONS
) -> Iterator[Link]:
    """Every question that a sentence has an answer to.

    Encoder self-attention: source words. Decoder self-attention: target words, where the answer
    comes first, since a row sees nothing later. Cross-attention: from a target word to the source
    words that the other target word translates and it does not itself; for the alignment, to the
    source words that it translates itself.
    """
    found: dict[tuple[Question, int], set[int]] = defaultdict(set)
    sources_of = _sources_of(sentence)
    for name, kinds in relations.items():
        for dependency in sentence.dependencies:
            if dependency.kind not in kinds:
                continue
            if name == ATTRACTED and not _is_attracted(sentence, dependency, sources_of):
                continue
            for direction in Direction:
                ends = (dependency.start, dependency.end)
                query, key = ends if direction is Direction.FORWARD else ends[::-1]
                for kind, keys in _answers(dependency.side, query, key, sources_of):
                    for reading in readings(kind):
                        found[Question(kind, name, direction, reading), query] |= keys
    if ALIGNMENT in relations:
        for query, sources in sources_of.items():
            if sentence.target_words[query] not in PUNCTUATION:
                for reading in readings(AttentionKind.CROSS):
                    question = Question(AttentionKind.CROSS, ALIGNMENT, Direction.FORWARD, reading)
                    found[question, query] |= sources
    for (question, query), keys in found.items():
        yield Link(question, query, frozenset(keys), _aligned(question, query, keys, sources_of))


def _aligned(
    question: Question, query: int, keys: set[int], sources_of: Mapping[int, set[int]]
) -> frozenset[Reading]:
    """A row that is fed a word predicts the next one, and a row that predicts a word is fed the
    one before; a word of several pieces is both fed and predicted in some of its rows."""
    if question.kind is not AttentionKind.CROSS or question.relation == ALIGNMENT:
        return frozenset()
    fed = {query - (question.reading is Reading.PREDICTED), query}
    predicted = {query + (question.reading is Reading.FED), query}
    words = {Reading.FED: fed, Reading.PREDICTED: predicted}
    return frozenset(
        reading
        for reading, of_row in words.items()
        if any(keys & sources_of.get(word, set()) for word in of_row)
    )


def _answers(
    side: Side, query: int, key: int, sources_of: Mapping[int, set[int]]
) -> Iterator[tuple[AttentionKind, set[int]]]:
    if side is Side.SOURCE:
        yield AttentionKind.ENCODER_SELF, {key}
        return
    if key < query:
        yield AttentionKind.DECODER_SELF, {key}
    elsewhere = sources_of[key] - sources_of[query]
    if elsewhere:
        yield AttentionKind.CROSS, elsewhere


def _sources_of(sentence: Sentence) -> Mapping[int, set[int]]:
    """The source words that each target word translates, without punctuation marks."""
    sources: dict[int, set[int]] = defaultdict(set)
    for source, target in sentence.alignment:
        if sentence.source_words[source] not in PUNCTUATION:
            sources[target].add(source)
    return sources


def _is_attracted(
    sentence: Sentence, dependency: Dependency, sources_of: Mapping[int, set[int]]
) -> bool:
    """Whether another noun stands between the two words."""
    low, high = sorted((dependency.start, dependency.end))
    between: Iterable[int] = range(low + 1, high)
    if dependency.side is Side.TARGET:
        between = [source for word in between for source in sources_of[word]]
    return any(sentence.source_tags[word] == "noun" for word in between)
