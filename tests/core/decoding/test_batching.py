from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from core.decoding.batching import batches_by_length, padded


def test_rows_are_padded_at_the_end() -> None:
    assert padded([[5, 6, 7], [], [8]], 0, torch.device("cpu")).tolist() == [
        [5, 6, 7],
        [0, 0, 0],
        [8, 0, 0],
    ]


@given(lengths=st.lists(st.integers(1, 40), max_size=30), budget=st.integers(1, 100))
def test_each_index_once_in_batches_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(batches_by_length(range(len(lengths)), lengths, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    in_order = [lengths[index] for batch in batches for index in batch]
    assert in_order == sorted(lengths)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


def test_only_the_indices_that_are_given() -> None:
    assert list(batches_by_length([3, 1], [9, 2, 9, 1], 4)) == [[3, 1]]
