"""Whether a head looks where the grammar knows that it should, against looking at a fixed offset.

A head is right at a word if, of all the words that it could look at, the gold one has the largest
weight. Punctuation, special tokens and the word itself do not count, as they are never the answer
and a head that has nothing to do often rests on them. The baseline is the best that a head can do
which always looks equally far (Voita et al. 2019, arXiv 1905.09418).

Legend: n links, N heads of one kind, B batch, R and C words of the query and the key side.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.analysis.claims import FEWEST_ROWS, MARGIN
from core.analysis.gold_links import RELATIONS, Direction, Link, Question, gold_links
from core.analysis.passes import Pass, recorded_passes
from core.analysis.words import Reading, WordedPair, WordMaps, worded
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.sentence import PUNCTUATION, Sentence
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class GoldScore:
    """One question, asked of every head of its kind.

    Attributes:
        heads: the N heads of the columns below.
        hits: [n, N], whether the heaviest word is a gold one.
        weights: [n, N], the weight on the gold words.
        sentences: [n], which sentence each link is of, in the order they were given.
        queries, keys: [n], the row and the first gold column of each link in the maps over tokens.
        offset: the most frequent distance in words, key minus query.
        baseline: share of the links at this distance.
    """

    question: Question
    heads: tuple[Head, ...]
    hits: NDArray[np.bool_]
    weights: NDArray[np.float32]
    sentences: NDArray[np.intp]
    queries: NDArray[np.intp]
    keys: NDArray[np.intp]
    offset: int
    baseline: float

    @property
    def links(self) -> int:
        return len(self.hits)

    @property
    def threshold(self) -> float:
        return self.baseline + MARGIN

    @property
    def passed(self) -> NDArray[np.bool_]:
        """[N], whether the head does what is asked for: over the threshold, on enough links."""
        return (self.accuracy >= self.threshold) & (self.links >= FEWEST_ROWS)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """[N], 0 to 1."""
        accuracy: NDArray[np.float64] = self.hits.mean(axis=0, dtype=np.float64)
        return accuracy


def gold_scores(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: Sequence[Sentence],
    *,
    relations: Mapping[str, frozenset[DependencyKind]] = RELATIONS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[GoldScore]:
    """Every question that the sentences have links for.

    Args:
        model: in evaluation mode.
        relations: names and what they ask for.
        progress: told how many sentences are done.
    """
    tally = GoldTally(tokenizer, sentences, relations=relations)
    done = 0
    for passed in recorded_passes(model, tally.pairs):
        tally.add(passed)
        done += len(passed.indices)
        progress(done)
    return tally.scores()


@dataclass(slots=True)
class _Found:
    """What one question has found so far, a part for each batch."""

    hits: list[NDArray[np.bool_]] = field(default_factory=list)
    weights: list[NDArray[np.float32]] = field(default_factory=list)
    places: list[tuple[int, int, int]] = field(default_factory=list)  # sentence, query, key
    offsets: list[list[int]] = field(default_factory=list)


class GoldTally:
    """Counts pass by pass, of passes that are made for other counts too.

    Attributes:
        worded: the sentences with the words of their ids.
        pairs: the same as the passes take them.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sentences: Sequence[Sentence],
        *,
        relations: Mapping[str, frozenset[DependencyKind]] = RELATIONS,
        wanted: Callable[[Question], bool] = lambda question: True,
    ) -> None:
        """``wanted``: which questions to count."""
        self._sentences = sentences
        self.worded = [worded(sentence, tokenizer) for sentence in sentences]
        self._relations = relations
        self._wanted = wanted
        self._found: dict[Question, _Found] = defaultdict(_Found)
        self._heads: dict[AttentionKind, tuple[Head, ...]] = {}
        self.pairs = [one.pair for one in self.worded]

    def add(self, passed: Pass) -> None:
        """``passed.indices`` count in ``pairs``."""
        links: dict[tuple[AttentionKind, Reading | None], list[tuple[int, Link]]]
        links = defaultdict(list)
        for row, index in enumerate(passed.indices):
            for link in gold_links(self._sentences[index], self._relations):
                if self._wanted(link.question) and _has_pieces(self.worded[index], link):
                    links[link.question.kind, link.question.reading].append((row, link))
        for (kind, reading), of_maps in links.items():
            self._count(passed, kind, reading, of_maps)

    def scores(self) -> list[GoldScore]:
        """One score for each question in the order of kinds, relations, directions, readings."""
        kinds, directions, order = list(AttentionKind), list(Direction), list(self._relations)
        questions = sorted(
            self._found,
            key=lambda one: (
                kinds.index(one.kind),
                order.index(one.relation),
                directions.index(one.direction),
                one.reading or "",
            ),
        )
        return [self._score(question, self._found[question]) for question in questions]

    def _score(self, question: Question, found: _Found) -> GoldScore:
        places = np.array(found.places, dtype=np.intp)
        order = np.argsort(places[:, 0], kind="stable")
        offset, count = most_frequent_offset(found.offsets)
        sentences, queries, keys = places[order].T
        return GoldScore(
            question=question,
            heads=self._heads[question.kind],
            hits=np.concatenate(found.hits)[order],
            weights=np.concatenate(found.weights)[order],
            sentences=sentences,
            queries=queries,
            keys=keys,
            offset=offset,
            baseline=count / len(places),
        )

    def _count(
        self,
        passed: Pass,
        kind: AttentionKind,
        reading: Reading | None,
        links: Sequence[tuple[int, Link]],
    ) -> None:
        """All links that are answered by the same maps."""
        pairs = [self.worded[index] for index in passed.indices]
        sentences = [self._sentences[index] for index in passed.indices]
        maps = WordMaps(passed, pairs, kind, reading)
        rows = np.array([row for row, _ in links])
        queries = np.array([link.query for _, link in links])
        layers = [maps.weights(layer).cpu().numpy() for layer in range(passed.layers(kind))]
        self._heads[kind] = passed.heads(kind)
        weights = np.concatenate([one[rows, :, queries] for one in layers], axis=1)  # [n, N, C]
        gold = np.zeros((len(links), weights.shape[-1]), dtype=np.bool_)  # [n, C]
        counted = np.zeros_like(gold)
        for index, (row, link) in enumerate(links):
            gold[index, list(link.keys)] = True
            counted[index, _counted(sentences[row], link)] = True
        on_gold = np.where(gold[:, None], weights, 0.0).sum(axis=-1)  # [n, N]
        contest = np.where(counted[:, None], weights, 0.0)
        heaviest = contest.argmax(axis=-1)  # [n, N]
        hits = gold[np.arange(len(links))[:, None], heaviest] & (contest.max(axis=-1) > 0.0)
        of_question: dict[Question, list[int]] = defaultdict(list)
        for index, (_, link) in enumerate(links):
            of_question[link.question].append(index)
        for question, chosen in of_question.items():
            found = self._found[question]
            found.hits.append(hits[chosen])
            found.weights.append(on_gold[chosen].astype(np.float32))
            for row, link in (links[index] for index in chosen):
                query = pairs[row].rows(kind, reading).index(link.query)
                key = pairs[row].columns(kind).index(min(link.keys))
                found.places.append((passed.indices[row], query, key))
                found.offsets.append(sorted(key - link.query for key in link.keys))


def most_frequent_offset(offsets: Iterable[Sequence[int]]) -> tuple[int, int]:
    """The offset that most links have, the shorter one if several do, and how many have it."""
    counts = Counter(offset for of_link in offsets for offset in of_link)
    best = max(counts, key=lambda offset: (counts[offset], -abs(offset), offset))
    return best, counts[best]


def _has_pieces(pair: WordedPair, link: Link) -> bool:
    kind, reading = link.question.kind, link.question.reading
    return link.query in pair.rows(kind, reading) and link.keys <= set(pair.columns(kind))


def _counted(sentence: Sentence, link: Link) -> list[int]:
    """The words that a head could look at instead of the gold ones."""
    kind = link.question.kind
    words = sentence.target_words if kind is AttentionKind.DECODER_SELF else sentence.source_words
    seen = words[: link.query] if kind is AttentionKind.DECODER_SELF else words
    own = {link.query} if kind is AttentionKind.ENCODER_SELF else set()
    return [
        index for index, word in enumerate(seen) if word not in PUNCTUATION and index not in own
    ]
