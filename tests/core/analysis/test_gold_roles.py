"""Which gold roles a head has beside others, from scores that are written by hand.

Legend: n links, one head.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.gold import GoldScore
from core.analysis.gold_links import ALIGNMENT, Direction, Question
from core.analysis.passes import Pair
from core.analysis.roles import Role, gold_roles
from core.analysis.words import Reading
from core.heads import AttentionKind, Head

CROSS, DECODER = AttentionKind.CROSS, AttentionKind.DECODER_SELF
FORWARD, BACKWARD = Direction
FED, PREDICTED = Reading
NO_READING: frozenset[Reading] = frozenset()


def score(
    relation: str,
    hits: list[bool],
    *,
    weight: float = 0.8,
    kind: AttentionKind = CROSS,
    direction: Direction = FORWARD,
    reading: Reading = PREDICTED,
    aligned: list[frozenset[Reading]] | None = None,
) -> GoldScore:
    """Every link is at another distance, so that the baseline is next to nothing."""
    n = len(hits)
    return GoldScore(
        question=Question(kind, relation, direction, reading),
        heads=(Head(kind, 0, 0),),
        hits=np.array(hits)[:, None],
        weights=np.full((n, 1), weight, np.float32),
        sentences=np.zeros(n, np.intp),
        queries=np.zeros(n, np.intp),
        keys=np.zeros(n, np.intp),
        offsets=tuple([index] for index in range(n)),
        aligned=tuple(aligned or [NO_READING] * n),
    )


def roles(*scores: GoldScore) -> dict[str, Role]:
    pair = Pair("a", "a", [1], [1])
    return {role.role: role for _head, role in gold_roles(scores, [pair])}


ALIGNER = score(ALIGNMENT, [True] * 90 + [False] * 10)


def test_a_role_reports_its_weight_its_interval_and_its_cases() -> None:
    role = roles(ALIGNER)["gold:alignment"]
    assert role.passed
    assert (role.score, role.cases) == (0.9, 100)
    assert role.weight == pytest.approx(0.8)
    assert role.lower == pytest.approx(0.8256, abs=1e-4)  # Wilson, 90 of 100
    assert role.explained_by == ""


def test_hits_without_weight_are_no_role() -> None:
    assert not roles(score("causative", [True] * 100, weight=0.07))["gold:causative"].passed


def test_a_role_that_aligning_explains_is_not_claimed_beside_it() -> None:
    explained = [frozenset({PREDICTED})] * 100
    attribute = score("attribute", [True] * 100, reading=FED, aligned=explained)
    role = roles(ALIGNER, attribute)["gold:attribute"]
    assert not role.passed
    assert role.explained_by == "gold:alignment"
    assert role.score == 1.0
    assert roles(attribute)["gold:attribute"].passed  # of a head that aligns nothing


def test_what_aligning_by_the_other_reading_would_explain_is_claimed() -> None:
    other = score("attribute", [True] * 100, aligned=[frozenset({FED})] * 100)
    assert roles(ALIGNER, other)["gold:attribute"].passed


def test_a_role_is_claimed_on_the_links_that_aligning_does_not_explain() -> None:
    """And is measured on these alone."""
    aligned = [frozenset({PREDICTED})] * 100 + [NO_READING] * 60
    found = roles(
        ALIGNER, score("subject", [True] * 100 + [True] * 54 + [False] * 6, aligned=aligned)
    )
    role = found["gold:subject"]
    assert role.passed
    assert (role.score, role.cases) == (0.9, 60)
    few = roles(ALIGNER, score("subject", [True] * 149, aligned=aligned[:149]))["gold:subject"]
    assert not few.passed  # 49 are left
    assert few.explained_by == "gold:alignment"


def test_a_part_is_not_claimed_beside_the_whole_that_is_done_the_same_way() -> None:
    whole = score("auxiliary", [True] * 200, kind=DECODER)
    part = score("perfect", [True] * 100, kind=DECODER)
    found = roles(whole, part)
    assert found["gold:auxiliary"].passed
    assert not found["gold:perfect"].passed
    assert found["gold:perfect"].explained_by == "gold:auxiliary"
    back = score("perfect", [True] * 100, kind=DECODER, direction=BACKWARD)
    assert roles(whole, back)["gold:perfect"].passed
    weak = score("auxiliary", [False] * 200, kind=DECODER)
    assert roles(weak, part)["gold:perfect"].passed
