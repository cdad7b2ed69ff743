"""Whether a head looks where the grammar knows that it should, against looking at a fixed offset.

A head is right at a word if the gold one has the largest weight of all columns: of the words,
punctuation and the word itself among them, and of the special tokens. A row that rests on a sink
is therefore a miss, and so is a gold word that is a sink of the map, which the head attends to
whatever the query is. The baseline is the best that a head can do that always attends to a fixed
distance (Voita et al. 2019, arXiv 1905.09418).

Legend: n links, N heads of one kind, B batch, H heads of a layer, R and C words of the query and
the key side.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from core.analysis.gold_links import RELATIONS, Direction, Link, Question, gold_links
from core.analysis.passes import Pass, recorded_passes
from core.analysis.verdict import MARGIN, holds, lower_bound
from core.analysis.words import NO_WORD, Reading, WordedPair, WordMaps, worded
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.sentence import Sentence
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.trace.sinks import sink_threshold


@dataclass(frozen=True, eq=False)
class GoldScore:
    """One question, asked of every head of its kind.

    Attributes:
        heads: the N heads of the columns below.
        hits: [n, N], whether the heaviest column is a gold word and no sink.
        weights: [n, N], the weight on the gold words.
        sentences: [n], which sentence each link is of, in the order they were given.
        queries, keys: [n], the row and the first gold column of each link in the maps over tokens.
        offsets: [n], the distances in words at which a link is right, key minus query.
        aligned: [n], as of ``Link``.
    """

    question: Question
    heads: tuple[Head, ...]
    hits: NDArray[np.bool_]
    weights: NDArray[np.float32]
    sentences: NDArray[np.intp]
    queries: NDArray[np.intp]
    keys: NDArray[np.intp]
    offsets: tuple[Sequence[int], ...]
    aligned: tuple[frozenset[Reading], ...]

    @property
    def links(self) -> int:
        return len(self.hits)

    @cached_property
    def _best_offset(self) -> tuple[int, int]:
        return most_frequent_offset(self.offsets)

    @property
    def offset(self) -> int:
        """The most frequent distance."""
        return self._best_offset[0]

    @property
    def baseline(self) -> float:
        """The share of the links at this distance."""
        return self._best_offset[1] / self.links

    @property
    def threshold(self) -> float:
        return self.baseline + MARGIN

    @property
    def passed(self) -> NDArray[np.bool_]:
        """Whether each head answers the question, [N]."""
        pairs = zip(self.accuracy.tolist(), self.weight.tolist(), strict=True)
        return np.array(
            [holds(share, self.links, self.threshold, weight) for share, weight in pairs], np.bool_
        )

    @property
    def lower(self) -> NDArray[np.float64]:
        """The lower end of the 95% interval of each accuracy, [N]."""
        return np.array([lower_bound(share, self.links) for share in self.accuracy.tolist()])

    @property
    def weight(self) -> NDArray[np.float64]:
        """The mean weight on the gold words, [N]."""
        weight: NDArray[np.float64] = self.weights.mean(axis=0, dtype=np.float64)
        return weight

    def unexplained(self, by: Reading) -> GoldScore | None:
        """The links that a head that aligns words by this reading would not find; None without
        any."""
        left = [index for index, readings in enumerate(self.aligned) if by not in readings]
        if not left:
            return None
        return replace(
            self,
            hits=self.hits[left],
            weights=self.weights[left],
            sentences=self.sentences[left],
            queries=self.queries[left],
            keys=self.keys[left],
            offsets=tuple(self.offsets[index] for index in left),
            aligned=tuple(self.aligned[index] for index in left),
        )

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """The share of links that each head answers correctly, [N], 0 to 1."""
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
    aligned: list[frozenset[Reading]] = field(default_factory=list)


class GoldTally:
    """Counts pass by pass, for passes that are made for other counts too.

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
        """Count the questions in ``wanted``."""
        self._sentences = sentences
        self.worded = [worded(sentence, tokenizer) for sentence in sentences]
        self._relations = relations
        self._wanted = wanted
        self._found: dict[Question, _Found] = defaultdict(_Found)
        self._heads: dict[AttentionKind, tuple[Head, ...]] = {}
        self.pairs = [one.pair for one in self.worded]

    def add(self, passed: Pass) -> None:
        """Count a pass; ``passed.indices`` are places in ``pairs``."""
        links: dict[tuple[AttentionKind, Reading | None], list[tuple[int, Link]]]
        links = defaultdict(list)
        for row, index in enumerate(passed.indices):
            for link in gold_links(self._sentences[index], self._relations):
                if self._wanted(link.question) and _has_pieces(self.worded[index], link):
                    links[link.question.kind, link.question.reading].append((row, link))
        sinks = {kind: _first_is_sink(passed, kind) for kind, _ in links}
        for (kind, reading), of_maps in links.items():
            self._count(passed, kind, reading, of_maps, sinks[kind])

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
        sentences, queries, keys = places[order].T
        return GoldScore(
            question=question,
            heads=self._heads[question.kind],
            hits=np.concatenate(found.hits)[order],
            weights=np.concatenate(found.weights)[order],
            sentences=sentences,
            queries=queries,
            keys=keys,
            offsets=tuple(found.offsets[index] for index in order),
            aligned=tuple(found.aligned[index] for index in order),
        )

    def _count(
        self,
        passed: Pass,
        kind: AttentionKind,
        reading: Reading | None,
        links: Sequence[tuple[int, Link]],
        sinks: NDArray[np.bool_],
    ) -> None:
        """All links that are answered by the same maps; ``sinks`` as of ``_first_is_sink``."""
        pairs = [self.worded[index] for index in passed.indices]
        maps = WordMaps(passed, pairs, kind, reading)
        rows = np.array([row for row, _ in links])
        queries = np.array([link.query for _, link in links])
        layers = [maps.weights(layer).cpu().numpy() for layer in range(passed.layers(kind))]
        self._heads[kind] = passed.heads(kind)
        weights = np.concatenate([one[rows, :, queries] for one in layers], axis=1)  # [n, N, C]
        gold = np.zeros((len(links), weights.shape[-1]), dtype=np.bool_)  # [n, C]
        first = np.zeros_like(gold)  # the word that may be a sink
        for index, (row, link) in enumerate(links):
            gold[index, list(link.keys)] = True
            word = pairs[row].columns(kind)[0]
            first[index, [word] if word != NO_WORD else []] = True
        on_gold = np.where(gold[:, None], weights, 0.0).sum(axis=-1)  # [n, N]
        on_specials = 1.0 - weights.sum(axis=-1)  # [n, N]; a side has one of them
        heaviest = weights.argmax(axis=-1)[..., None]  # [n, N, 1]
        chosen = np.take_along_axis(
            gold[:, None] & ~(first[:, None] & sinks[rows][..., None]), heaviest, -1
        )
        hits = chosen[..., 0] & (weights.max(axis=-1) > on_specials)
        of_question: dict[Question, list[int]] = defaultdict(list)
        for index, (_, link) in enumerate(links):
            of_question[link.question].append(index)
        for question, places in of_question.items():
            found = self._found[question]
            found.hits.append(hits[places])
            found.weights.append(on_gold[places].astype(np.float32))
            for row, link in (links[index] for index in places):
                query = pairs[row].rows(kind, reading).index(link.query)
                key = pairs[row].columns(kind).index(min(link.keys))
                found.places.append((passed.indices[row], query, key))
                found.offsets.append(sorted(key - link.query for key in link.keys))
                found.aligned.append(link.aligned)


def most_frequent_offset(offsets: Iterable[Sequence[int]]) -> tuple[int, int]:
    """The offset that most links have, the shorter one if several do, and how many have it."""
    counts = Counter(offset for of_link in offsets for offset in of_link)
    best = max(counts, key=lambda offset: (counts[offset], -abs(offset), offset))
    return best, counts[best]


def _has_pieces(pair: WordedPair, link: Link) -> bool:
    kind, reading = link.question.kind, link.question.reading
    return link.query in pair.rows(kind, reading) and link.keys <= set(pair.columns(kind))


def _first_is_sink(passed: Pass, kind: AttentionKind) -> NDArray[np.bool_]:
    """Whether the first token is a sink of a head's map, [B, N].

    Of the tokens that may be (`core.trace.sinks`) it is the only one that can be a gold word. In
    decoder self-attention it is the begin token.
    """
    if kind is AttentionKind.DECODER_SELF:
        return np.zeros((len(passed.source), len(passed.heads(kind))), np.bool_)
    queries = passed.query_lengths(kind)[:, None]  # [B, 1]
    received = torch.cat(
        [
            passed.weights(kind, layer)[..., 0].sum(dim=-1) / queries
            for layer in range(passed.layers(kind))
        ],
        dim=1,
    )  # [B, N]
    least = [sink_threshold(1 / length) for length in passed.key_lengths(kind).tolist()]
    found: NDArray[np.bool_] = received.cpu().numpy() >= np.array(least)[:, None]
    return found
