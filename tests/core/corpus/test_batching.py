from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpus.batching import plan_batches

PAIRS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=200)


def plan(
    pairs: list[tuple[int, int]],
    *,
    source_budget: int = 64,
    target_budget: int = 50,
    epoch: int = 0,
) -> list[list[int]]:
    batches = plan_batches(
        [source for source, _ in pairs],
        [target for _, target in pairs],
        source_budget=source_budget,
        target_budget=target_budget,
        seed=7,
        epoch=epoch,
    )
    return [batch.tolist() for batch in batches]


@given(PAIRS, st.integers(40, 300), st.integers(40, 300), st.integers(0, 5))
def test_every_pair_once_and_both_budgets_hold(
    pairs: list[tuple[int, int]], source_budget: int, target_budget: int, epoch: int
) -> None:
    batches = plan(pairs, source_budget=source_budget, target_budget=target_budget, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(pairs)))
    for batch in batches:
        assert batch
        assert len(batch) * max(pairs[index][0] for index in batch) <= source_budget
        assert len(batch) * max(pairs[index][1] for index in batch) <= target_budget


@given(PAIRS, st.integers(40, 300), st.integers(40, 300))
def test_a_batch_ends_where_one_more_pair_would_pass_a_budget(
    pairs: list[tuple[int, int]], source_budget: int, target_budget: int
) -> None:
    batches = plan(pairs, source_budget=source_budget, target_budget=target_budget)
    slow: list[int] = []
    rows = longest_source = longest_target = 0
    for source, target in sorted(pairs, key=lambda pair: pair[::-1]):
        rows += 1
        longest_source, longest_target = max(longest_source, source), max(longest_target, target)
        if rows * longest_source > source_budget or rows * longest_target > target_budget:
            slow.append(rows - 1)
            rows, longest_source, longest_target = 1, source, target
    assert sorted(map(len, batches)) == sorted([*slow, rows] if pairs else [])


@given(PAIRS, st.integers(0, 3))
def test_the_same_seed_and_epoch_give_the_same_plan(
    pairs: list[tuple[int, int]], epoch: int
) -> None:
    assert plan(pairs, epoch=epoch) == plan(pairs, epoch=epoch)


def test_epochs_differ_in_their_batches_and_in_the_order_of_these() -> None:
    pairs = [(5, 5)] * 100
    first, second = plan(pairs), plan(pairs, epoch=1)
    assert first != second
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in second}
    by_length = plan([(n, n) for n in range(1, 41)])
    assert by_length != sorted(by_length)


def test_a_batch_holds_similar_lengths() -> None:
    random = np.random.default_rng(0)
    pairs = [(int(n), int(n)) for n in random.integers(1, 40, 2000)]
    batches = plan(pairs, source_budget=400, target_budget=400)
    rows = [(len(batch), max(pairs[i][0] for i in batch)) for batch in batches]
    padded = sum(count * longest for count, longest in rows)
    assert padded < 1.02 * sum(source for source, _ in pairs)


def test_batches_are_filled_as_far_as_the_budget_goes() -> None:
    assert sorted(len(batch) for batch in plan([(10, 5)] * 13, source_budget=60)) == [1, 6, 6]


def test_no_pairs_no_batches() -> None:
    assert plan([]) == []


@pytest.mark.parametrize("pair", [(65, 1), (1, 51)])
def test_a_pair_beyond_a_budget_is_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="longest pair"):
        plan([(3, 3), pair])
