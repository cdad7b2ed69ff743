from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.interval import Z, wilson_interval


@given(count=st.integers(1, 3_000), data=st.data())
def test_its_ends_are_just_so_far_that_the_share_could_still_be_chance(
    count: int, data: st.DataObject
) -> None:
    """(share − end)² = Z² · end · (1 − end) / count, which defines the interval."""
    share = data.draw(st.integers(0, count)) / count
    low, high = wilson_interval(share, count)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    for end in (low, high):
        assert (share - end) ** 2 == pytest.approx(Z**2 * end * (1 - end) / count, abs=1e-12)


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)],
)
def test_published_examples(right: int, count: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17, table I, method 3."""
    found = wilson_interval(right / count, count)
    assert found == pytest.approx((low, high), abs=1e-4)
