"""The sentences that show best, and worst, what is claimed of a head.

Legend: N sentences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from torch import Tensor

from core.analysis.claims import Claim
from core.analysis.passes import Pair, recorded_passes
from core.analysis.statistics import cells_of
from core.heads import AttentionKind
from core.model.transformer import Transformer

SHOWN = 10


class Cell(NamedTuple):
    """A cell of a map, as tokens of the `Trace` of the pair."""

    query: int
    key: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence, and the cell of the head's map that speaks most for the claim, or against it.

    Attributes:
        source, target: the texts that were given to encoder and decoder.
        score: of this sentence alone.
    """

    source: str
    target: str
    query: int
    key: int
    score: float

    @classmethod
    def of(cls, pair: Pair, cell: Cell, score: float) -> Self:
        return cls(pair.source, pair.target, cell.query, cell.key, score)


class Choice(NamedTuple):
    """The indices of chosen sentences, the clearest first; no sentence is in both lists."""

    best: list[int]
    worst: list[int]


def best_and_worst(
    scores: npt.NDArray[np.float64], rows: npt.NDArray[np.int64], texts: Sequence[Hashable]
) -> Choice:
    """Choose at most ``SHOWN`` of each, no text twice; of equal scores the sentence with more rows.

    Args:
        scores: [N], of each sentence; not a number where the claim says nothing about it.
        rows: [N], how many of its rows were counted.
        texts: [N].
    """
    known = np.flatnonzero(np.isfinite(scores)).tolist()
    first = {texts[index]: index for index in reversed(known)}
    distinct = np.array(sorted(first.values()), np.intp)
    half = min(SHOWN, (len(distinct) + 1) // 2)
    best = distinct[np.lexsort((-rows[distinct], -scores[distinct]))][:half].tolist()
    others = np.setdiff1d(distinct, best)
    worst = others[np.lexsort((-rows[others], scores[others]))][:half].tolist()
    return Choice(best, worst)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A claim about the head at ``place`` of a layer, and the sentences chosen to show it."""

    claim: Claim
    kind: AttentionKind
    layer: int
    place: int
    choice: Choice


def witnesses(
    model: Transformer,
    pairs: Sequence[Pair],
    special: Mapping[AttentionKind, Tensor],
    wanted: Sequence[Wanted],
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> list[Mapping[int, Cell]]:
    """Return the chosen cell of each sentence for each entry of ``wanted``, by the sentence's
    number.

    Args:
        model: in evaluation mode.
        special: [V], which ids of a kind's keys are special tokens.
        progress: told the share of the work that is done.
    """
    found: list[dict[int, Cell]] = [{} for _ in wanted]
    asked: dict[tuple[AttentionKind, int, int], list[tuple[int, bool]]] = defaultdict(list)
    for number, one in enumerate(wanted):
        for against, sentences in enumerate(one.choice):
            for index in sentences:
                asked[one.kind, one.layer, index].append((number, bool(against)))
    chosen = sorted({index for _, _, index in asked})
    done = 0
    for passed in recorded_passes(model, [pairs[index] for index in chosen]):
        for kind in AttentionKind:
            cells = cells_of(passed, kind, special[kind])
            rows_of = cache(lambda claim, cells=cells: claim.rows(cells))
            for layer in range(passed.layers(kind)):
                weights = passed.weights(kind, layer)
                for row, place in enumerate(passed.indices):
                    index = chosen[place]
                    for number, against in asked[kind, layer, index]:
                        one = wanted[number]
                        cell = one.claim.witness(
                            weights[row, one.place], rows_of(one.claim).of(row), against=against
                        )
                        found[number][index] = Cell(*cell)
        done += len(passed.indices)
        progress(done / len(chosen))
    return list(found)
