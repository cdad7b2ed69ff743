from __future__ import annotations

import pytest
import torch
from torch import Tensor

from core.analysis import step_times
from core.analysis.step_times import step_seconds
from tests.core.model.small import small_transformer


@pytest.mark.parametrize("changes", [{}, {"positions": "rotary", "norm": "pre"}], ids=str)
@pytest.mark.parametrize("length", [1, 2, 20])
def test_both_ways_give_the_same_scores(
    changes: dict[str, str], length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Tensor] = []

    def run_twice(run: object) -> float:
        found.extend(run() for _ in range(2))  # type: ignore[operator]
        return float(len(found))

    monkeypatch.setattr(step_times, "_fastest", run_twice)
    assert step_seconds(small_transformer(**changes), [5, 6, 7], length) == (2.0, 4.0)
    for scores in found:
        torch.testing.assert_close(scores, found[0], atol=1e-4, rtol=1e-4)
    assert found[0].shape == (1, 23)


def test_times_are_positive() -> None:
    cached, uncached = step_seconds(small_transformer(), [5, 6], 4)
    assert cached > 0
    assert uncached > 0
