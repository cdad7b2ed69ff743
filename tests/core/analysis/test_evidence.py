from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.evidence import SHOWN, best_and_worst

NAN = float("nan")


def test_of_equal_scores_the_one_with_more_rows_tells_more() -> None:
    scores = np.array([0.5, 1.0, 1.0, 0.0, NAN, 0.0])
    rows = np.array([3, 2, 4, 5, 9, 6])
    found = best_and_worst(scores, rows, "abcdef")
    assert found.best == [2, 1, 0]
    assert found.worst == [5, 3]


@given(
    st.lists(
        st.tuples(st.sampled_from([NAN, 0.0, 0.25, 1.0]), st.integers(1, 9), st.integers(0, 30)),
        max_size=60,
    )
)
def test_the_best_and_the_worst_are_apart_and_no_text_comes_twice(
    sentences: list[tuple[float, int, int]],
) -> None:
    scores = np.array([score for score, _, _ in sentences])
    rows = np.array([count for _, count, _ in sentences], np.int64)
    texts = [text for _, _, text in sentences]
    best, worst = best_and_worst(scores, rows, texts)
    shown = [*best, *worst]
    known = {texts[index] for index in np.flatnonzero(np.isfinite(scores))}
    assert len(shown) == len({texts[index] for index in shown}) == min(2 * SHOWN, len(known))
    assert list(scores[best]) == sorted(scores[best], reverse=True)
    assert list(scores[worst]) == sorted(scores[worst])
    if best and worst:
        assert scores[best].min() >= scores[worst].max()
