"""The roles of a head: what it is called if its score reaches a published threshold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from core.analysis.claims import Positional, Sink
from core.analysis.evidence import Cell, Choice, Evidence, best_and_worst
from core.analysis.gold import GoldScore
from core.analysis.gold_links import ALIGNMENT, PARTS
from core.analysis.passes import Pair
from core.analysis.tally import Outcome
from core.analysis.words import Reading
from core.heads import AttentionKind, Head

GOLD = "gold:"
"""What the name of a role begins with that is measured on gold annotations."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a head is called if it has ``passed``.

    Attributes:
        baseline: the score of a head that spreads its weight evenly; of gold roles, of one that
            always attends to a fixed distance.
        threshold: what the lower end of the score's 95% interval must reach.
        cases: how many rows, links or sentences the score is over.
        weight: the mean weight on what is looked at; None where the score is a weight itself.
        explained_by: the more general role of this head that accounts for this one, which is then
            not passed; "" if there is none.
        details: what was measured more exactly, such as the token of a sink.
        best, worst: the sentences that show it best and worst, the most telling first; none of a
            gold role whose score is not above the baseline.
    """

    role: str
    score: float
    baseline: float
    threshold: float
    cases: int
    lower: float
    weight: float | None
    passed: bool
    explained_by: str
    details: Mapping[str, str | int]
    best: tuple[Evidence, ...]
    worst: tuple[Evidence, ...]


def one_of_each(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Choose one claim of each sort: the offset that most rows have, the token most of a sink."""
    chosen = []
    for sort, group in groupby(outcomes, lambda outcome: type(outcome.claim)):
        by_hits = sort is Positional
        chosen.append(max(group, key=lambda one: one.hits if by_hits else one.margin))
    return chosen


def measured_role(
    outcome: Outcome, choice: Choice, cells: Mapping[int, Cell], pairs: Sequence[Pair]
) -> Role:
    """Return a role with its evidence; ``cells`` has the cell of each chosen sentence that speaks
    for the claim or against it."""

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
        cases=outcome.cases,
        lower=outcome.lower,
        weight=outcome.weight,
        passed=outcome.passed,
        explained_by="",
        details={
            **({"on": claim.where} if isinstance(claim, Sink) else {}),
            "rows": int(outcome.rows.sum()),
        },
        best=evidence(choice.best),
        worst=evidence(choice.worst),
    )


def gold_roles(scores: Sequence[GoldScore], pairs: Sequence[Pair]) -> Iterator[tuple[Head, Role]]:
    """Return for each relation and head the direction and reading in which the head is best.

    A role of a head that aligns words counts only if the head also passes on the links that
    aligning does not explain, and a part of a more general relation only if the head has not the
    same role for the whole.
    """
    by_relation: dict[tuple[AttentionKind, str], list[GoldScore]] = defaultdict(list)
    for score in scores:
        by_relation[score.question.kind, score.question.relation].append(score)
    aligners = _best(by_relation.get((AttentionKind.CROSS, ALIGNMENT), []))
    found: dict[Head, dict[str, _Found]] = defaultdict(dict)
    for (_kind, relation), questions in by_relation.items():
        plain = _best(questions)
        beyond: dict[Reading, dict[Head, _Found]] = {}
        if relation != ALIGNMENT and questions[0].question.kind is AttentionKind.CROSS:
            for reading in Reading:
                left = [score.unexplained(reading) for score in questions]
                beyond[reading] = _best([score for score in left if score is not None])
        for head, one in plain.items():
            aligner = aligners.get(head)
            by = ""
            if aligner is not None and aligner.passed and beyond and one.passed:
                by_reading = aligner.score.question.reading
                assert by_reading is not None, "rows of cross-attention have a reading"
                other = beyond[by_reading].get(head)
                if other is not None and other.passed:
                    one = other
                else:
                    by = ALIGNMENT
            found[head][relation] = one._replace(explained_by=by)
    for head, of_head in found.items():
        for relation, one in of_head.items():
            whole = of_head.get(PARTS.get(relation, ""))
            if whole is not None and one.passed and whole.passed and _same_way(whole, one):
                one = one._replace(explained_by=PARTS[relation])
            yield head, _gold_role(one, pairs)


class _Found(NamedTuple):
    """A question, and which of its columns is the head."""

    score: GoldScore
    column: int
    explained_by: str = ""

    @property
    def passed(self) -> bool:
        return bool(self.score.passed[self.column]) and not self.explained_by


def _best(questions: Sequence[GoldScore]) -> dict[Head, _Found]:
    """For each head, of the questions that it passes, else of all, the one with the largest margin
    of the interval above the threshold."""
    if not questions:
        return {}
    margins = np.array([one.lower - one.threshold for one in questions])  # [questions, N]
    passed = np.array([one.passed for one in questions])
    best = (margins + 2.0 * passed).argmax(axis=0)
    return {
        head: _Found(questions[best[column]], column)
        for column, head in enumerate(questions[0].heads)
    }


def _same_way(one: _Found, other: _Found) -> bool:
    first, second = one.score.question, other.score.question
    return (first.direction, first.reading) == (second.direction, second.reading)


def _gold_role(found: _Found, pairs: Sequence[Pair]) -> Role:
    """Hits come before misses, and among either a link counts by the weight on its gold words."""
    score, column = found.score, found.column
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
        role=f"{GOLD}{question.relation}",
        score=accuracy,
        baseline=score.baseline,
        threshold=score.threshold,
        cases=score.links,
        lower=float(score.lower[column]),
        weight=float(score.weight[column]),
        passed=found.passed,
        explained_by=f"{GOLD}{found.explained_by}" if found.explained_by else "",
        details={
            "direction": question.direction.value,
            **reading,
            "links": score.links,
            "offset": score.offset,
        },
        best=evidence(choice.best),
        worst=evidence(choice.worst),
    )
