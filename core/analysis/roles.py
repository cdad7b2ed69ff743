"""The roles of a head: what it is called if its score reaches a published threshold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from core.analysis.claims import Positional, Sink
from core.analysis.evidence import Cell, Choice, Evidence, best_and_worst
from core.analysis.gold import GoldScore
from core.analysis.passes import Pair
from core.analysis.tally import Outcome
from core.heads import AttentionKind, Head


@dataclass(frozen=True, slots=True)
class Role:
    """What a head is called if it has ``passed``.

    Attributes:
        baseline: the score of a head that spreads its weight evenly; of gold roles, of one that
            always looks equally far.
        threshold: the least score to pass.
        details: what was measured more exactly, such as the token of a sink.
        best, worst: the sentences that show it best and worst, the most telling first; none of a
            gold role whose score is not above the baseline.
    """

    role: str
    score: float
    baseline: float
    threshold: float
    passed: bool
    details: Mapping[str, str | int]
    best: tuple[Evidence, ...]
    worst: tuple[Evidence, ...]


def one_of_each(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Of each sort of claim one: the offset that most rows have, the token most of a sink."""
    chosen = []
    for sort, group in groupby(outcomes, lambda outcome: type(outcome.claim)):
        by_hits = sort is Positional
        chosen.append(max(group, key=lambda one: one.hits if by_hits else one.margin))
    return chosen


def measured_role(
    outcome: Outcome, choice: Choice, cells: Mapping[int, Cell], pairs: Sequence[Pair]
) -> Role:
    """``cells``: of each sentence chosen the one that speaks for the claim or against it."""

    def evidence(sentences: Sequence[int]) -> tuple[Evidence, ...]:
        return tuple(
            Evidence.of(pairs[index], cells[index], float(outcome.scores[index]))
            for index in sentences
        )

    claim = outcome.claim
    return Role(
        role=claim.role,
        score=outcome.score,
        baseline=outcome.baseline,
        threshold=outcome.threshold,
        passed=outcome.passed,
        details={
            **({"on": claim.where} if isinstance(claim, Sink) else {}),
            "rows": int(outcome.rows.sum()),
        },
        best=evidence(choice.best),
        worst=evidence(choice.worst),
    )


def gold_roles(scores: Sequence[GoldScore], pairs: Sequence[Pair]) -> Iterator[tuple[Head, Role]]:
    """Of each relation, for each head, the direction and reading in which it is best."""
    by_relation: dict[tuple[AttentionKind, str], list[GoldScore]] = defaultdict(list)
    for score in scores:
        by_relation[score.question.kind, score.question.relation].append(score)
    for questions in by_relation.values():
        margins = np.array([one.accuracy - one.threshold for one in questions])  # [questions, N]
        for column, head in enumerate(questions[0].heads):
            yield head, _gold_role(questions[margins[:, column].argmax()], column, pairs)


def _gold_role(score: GoldScore, column: int, pairs: Sequence[Pair]) -> Role:
    """Hits come before misses, and among either a link counts by the weight on its gold words."""
    accuracy = float(score.accuracy[column])
    weights = score.weights[:, column].astype(np.float64)
    choice = Choice([], [])
    if accuracy > score.baseline:
        choice = best_and_worst(
            score.hits[:, column] + weights,
            np.ones(score.links, np.int64),
            [pairs[sentence].source for sentence in score.sentences],
        )

    def evidence(links: Sequence[int]) -> tuple[Evidence, ...]:
        return tuple(
            Evidence.of(
                pairs[score.sentences[link]],
                Cell(int(score.queries[link]), int(score.keys[link])),
                float(weights[link]),
            )
            for link in links
        )

    question = score.question
    reading = {} if question.reading is None else {"reading": question.reading.value}
    return Role(
        role=f"gold:{question.relation}",
        score=accuracy,
        baseline=score.baseline,
        threshold=score.threshold,
        passed=bool(score.passed[column]),
        details={
            "direction": question.direction.value,
            **reading,
            "links": score.links,
            "offset": score.offset,
        },
        best=evidence(choice.best),
        worst=evidence(choice.worst),
    )
