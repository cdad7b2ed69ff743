from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from transformer_viz.engine import parallel
from transformer_viz.engine.parallel import in_parallel


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel.os, "cpu_count", lambda: 2)


def test_results_come_in_order() -> None:
    assert list(in_parallel(lambda n: n * n, range(20))) == [n * n for n in range(20)]
    assert list(in_parallel(str, ())) == []


def test_two_at_a_time() -> None:
    meeting = threading.Barrier(2, timeout=30)
    assert len(list(in_parallel(lambda _: meeting.wait(), range(4)))) == 4


def test_no_more_is_made_than_is_about_to_be_taken() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = in_parallel(lambda n: n, numbers())
    assert [next(results), next(results)] == [0, 1]
    results.close()
    assert len(taken) <= 4
    assert not [one for one in threading.enumerate() if one.name.startswith("picture")]


def test_an_error_comes_in_its_turn() -> None:
    results = in_parallel(lambda n: 1 // n, [1, 0, 1])
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
