"""How far a model and its heads reach: the same dependency with more and more words inserted.

Legend: D distances, N heads of one kind, B pairs of a batch, T target tokens.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.analysis.gold import GoldTally
from core.analysis.gold_links import Direction, Question, relation_name
from core.analysis.interval import wilson_interval
from core.analysis.passes import Pass, recorded_passes
from core.analysis.words import Reading, WordedPair
from core.corpus.grammar.dependencies import DependencyKind, Side
from core.corpus.grammar.generate import FAMILIES, generate, minimal_pairs
from core.corpus.grammar.sentence import Sentence
from core.corpus.grammar.stretch import STRETCHABLE, find_gap, stretch
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

DISTANCES = (0, 1, 2, 4, 8, 16, 32)
FEWEST_WITH_LINK = 0.9
"""Of the sentences; in a kind of attention where fewer have the stretched link, none is counted."""

SAMPLE_OF_TRAINING = 2_000

BATCH_TOKENS = 1024
"""A batch of this size holds sentences of nearly one length, and little padding."""


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """One dependency at each distance; shares of sentences, 0 to 1.

    The German word that needs the other one comes later: the pronoun, the particle, the finite
    verb. Its row is that which predicts it, in the encoder that of the English word.

    Attributes:
        pushed_in: the numbers of inserted words, [D].
        between: [D], mean number of German words between the two.
        longest_trained: most words between the two in sentences that training draws from.
        model: [D], whether the later word has the highest probability after the right beginning,
            each piece of it.
        both: [D], whether it has in both sentences of a minimal pair; None for dependencies
            without pairs.
        heads: of the kinds of attention in which the dependency is stretched.
        accuracy: [D, N] of each kind, whether the head finds the word that is needed, as
            ``GoldScore`` counts it.
        baseline: [D] of each kind, the accuracy of the fixed-distance baseline at this distance.
    """

    relation: str
    sentences: int
    pushed_in: tuple[int, ...]
    between: NDArray[np.float64]
    longest_trained: int
    model: NDArray[np.float64]
    both: NDArray[np.float64] | None
    heads: Mapping[AttentionKind, tuple[Head, ...]]
    accuracy: Mapping[AttentionKind, NDArray[np.float64]]
    baseline: Mapping[AttentionKind, NDArray[np.float64]]

    @property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the 95% interval of ``model``, [D] each."""
        low, high = zip(*(wilson_interval(one, self.sentences) for one in self.model), strict=True)
        return np.array(low), np.array(high)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; the heads are a list, each with its accuracy by distance."""
        both = {} if self.both is None else {"both": self.both.tolist()}
        return {
            "relation": self.relation,
            "sentences": self.sentences,
            "between": self.between.tolist(),
            "longest_trained": self.longest_trained,
            "model": self.model.tolist(),
            **both,
            "baseline": {kind.value: line.tolist() for kind, line in self.baseline.items()},
            "heads": [
                {
                    "name": head.name,
                    "kind": head.kind.value,
                    "layer": head.layer,
                    "head": head.head,
                    "accuracy": self.accuracy[kind][:, column].tolist(),
                }
                for kind, heads in self.heads.items()
                for column, head in enumerate(heads)
            ],
        }


def distance_probe(
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    kinds: Sequence[DependencyKind] = STRETCHABLE,
    distances: Sequence[int] = DISTANCES,
    sentences: int = 100,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Reach]:
    """Each dependency in ``sentences`` generated sentences of the test split, stretched.

    One after the other, as they are asked for.

    Args:
        model: in evaluation mode.
        distances: how many words to insert, ascending.
        seed: of the sentences.
        progress: told how many stretched sentences were passed through the model, of
            kinds × distances × sentences.
    """
    longest = _longest_trained(seed)
    done = 0
    for kind in kinds:
        chosen = list(islice(stretchable_sentences(kind, seed=seed), sentences))
        steps = []
        for words in distances:
            steps.append(_step(model, tokenizer, kind, chosen, words))
            done += len(chosen)
            progress(done)
        yield _reach(kind, distances, steps, longest[kind])


def stretchable_sentences(kind: DependencyKind, *, seed: int) -> Iterator[Sentence]:
    """Yield sentences of the test split without end; of coreference, both sentences of minimal
    pairs."""
    if kind is DependencyKind.COREFERENCE:
        for pair in minimal_pairs(sys.maxsize, seed=seed, split="test"):
            if find_gap(pair[0], kind) is not None:
                yield from pair
        return
    families = [family for family in FAMILIES if family != "coreference"]
    for sentence in generate(sys.maxsize, seed=seed, split="test", families=families):
        if find_gap(sentence, kind) is not None:
            yield sentence


@dataclass(frozen=True, slots=True)
class _Step:
    """One dependency at one distance."""

    between: float
    right: NDArray[np.bool_]  # of each sentence
    heads: Mapping[AttentionKind, tuple[Head, ...]]
    accuracy: Mapping[AttentionKind, NDArray[np.float64]]
    baseline: Mapping[AttentionKind, float]


def _step(
    model: Transformer,
    tokenizer: Tokenizer,
    kind: DependencyKind,
    sentences: Sequence[Sentence],
    words: int,
) -> _Step:
    stretched = [_stretched_alone(sentence, kind, words) for sentence in sentences]
    relations = {relation_name(kind): frozenset({kind})}
    tally = GoldTally(tokenizer, stretched, relations=relations, wanted=_is_decisive)
    right = np.zeros(len(sentences), dtype=np.bool_)
    for passed in recorded_passes(model, tally.pairs, batch_tokens=BATCH_TOKENS):
        tally.add(passed)
        right[list(passed.indices)] = _predicted(
            model,
            passed,
            [tally.worded[index] for index in passed.indices],
            [_later_word(stretched[index]) for index in passed.indices],
        )
    scores = {
        score.question.kind: score
        for score in tally.scores()
        if score.links >= FEWEST_WITH_LINK * len(sentences)
    }
    lengths = [
        dependency.start - dependency.end - 1
        for sentence in stretched
        for dependency in sentence.dependencies
        if dependency.side is Side.TARGET
    ]
    return _Step(
        between=float(np.mean(lengths)),
        right=right,
        heads={kind: score.heads for kind, score in scores.items()},
        accuracy={kind: score.accuracy for kind, score in scores.items()},
        baseline={kind: score.baseline for kind, score in scores.items()},
    )


def _is_decisive(question: Question) -> bool:
    return question.direction is Direction.FORWARD and question.reading is not Reading.FED


def _stretched_alone(sentence: Sentence, kind: DependencyKind, words: int) -> Sentence:
    """The stretched sentence with no other dependency than the one that was stretched."""
    gap = find_gap(sentence, kind)
    assert gap is not None
    places = {Side.SOURCE: gap.source, Side.TARGET: gap.target}
    kept = [
        index
        for index, dependency in enumerate(sentence.dependencies)
        if dependency.kind is kind and dependency.end <= places[dependency.side] < dependency.start
    ]
    stretched = stretch(sentence, words, kind)
    return replace(stretched, dependencies=tuple(stretched.dependencies[index] for index in kept))


def _later_word(sentence: Sentence) -> int:
    return next(one.start for one in sentence.dependencies if one.side is Side.TARGET)


@torch.inference_mode()
def _predicted(
    model: Transformer, passed: Pass, pairs: Sequence[WordedPair], words: Sequence[int]
) -> NDArray[np.bool_]:
    """[B], whether each piece of a target word has the highest probability of all."""
    pieces = [
        (row, place, pair.pair.target_ids[place])
        for row, (pair, word) in enumerate(zip(pairs, words, strict=True))
        for place, of_piece in enumerate(pair.target_words)
        if of_piece == word
    ]
    rows, places, ids = torch.tensor(pieces, dtype=torch.long).reshape(-1, 3).unbind(dim=1)
    best = model.logits(passed.hidden[rows, places][None])[0].argmax(dim=-1).cpu()
    right = np.ones(len(pairs), dtype=np.bool_)
    right[rows[best != ids]] = False
    return right


def _reach(
    kind: DependencyKind, distances: Sequence[int], steps: Sequence[_Step], longest_trained: int
) -> Reach:
    right = np.stack([step.right for step in steps])  # [D, sentences]
    pairs = right[:, : right.shape[1] // 2 * 2].reshape(len(steps), -1, 2)
    of_kinds = steps[0].heads
    return Reach(
        relation=relation_name(kind),
        sentences=right.shape[1],
        pushed_in=tuple(distances),
        between=np.array([step.between for step in steps]),
        longest_trained=longest_trained,
        model=right.mean(axis=1),
        both=pairs.all(axis=2).mean(axis=1) if kind is DependencyKind.COREFERENCE else None,
        heads=of_kinds,
        accuracy={one: np.stack([step.accuracy[one] for step in steps]) for one in of_kinds},
        baseline={one: np.array([step.baseline[one] for step in steps]) for one in of_kinds},
    )


def _longest_trained(seed: int) -> Mapping[DependencyKind, int]:
    """The most German words between two that belong together, in sentences of training."""
    longest: dict[DependencyKind, int] = defaultdict(int)
    for sentence in generate(SAMPLE_OF_TRAINING, seed=seed, split="train"):
        for one in sentence.dependencies:
            if one.side is Side.TARGET:
                longest[one.kind] = max(longest[one.kind], abs(one.start - one.end) - 1)
    return longest
