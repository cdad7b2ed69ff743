from __future__ import annotations

import numpy as np
import torch

from core.config import ModelConfig
from core.training.batch import make_batch
from core.training.pairs import EncodedPair, EncodedPairs, Ragged

PAIRS = [
    EncodedPair([5, 6, 3], [7, 3], [(0, 7)]),
    EncodedPair([8, 3], [9, 10, 11, 3]),
    EncodedPair([4, 4, 4, 3], [12, 13, 3], [(1, 12), (2, 13)]),
]


def test_ragged_sequences_come_back() -> None:
    rows = [[1, 2], [], [3]]
    packed = Ragged.pack(rows)
    assert len(packed) == 3
    assert [packed[index].tolist() for index in range(3)] == rows
    assert packed.lengths.tolist() == [2, 0, 1]
    both = Ragged.concatenate([packed, Ragged.pack([]), Ragged.pack([[4]])])
    assert [both[index].tolist() for index in range(len(both))] == [*rows, [4]]
    assert both.padded([3, 0], pad=9).tolist() == [[4, 9], [1, 2]]


def test_sequences_are_read_across_segments_and_empty_ones_take_no_memory() -> None:
    rows = [[1], [2, 3], [], [4, 5, 6]]
    parts = [Ragged.pack(rows[:2]), Ragged.empty(3), Ragged.pack(rows[2:])]
    both = Ragged.concatenate(parts)
    assert [both[index].tolist() for index in range(len(both))] == [
        *rows[:2],
        [],
        [],
        [],
        *rows[2:],
    ]
    assert both.segments[1] is parts[2].segments[0]
    values, lengths = both.gather([6, 2, 0])
    assert (values.tolist(), lengths.tolist()) == ([4, 5, 6, 1], [3, 0, 1])
    assert both.gather([])[0].size == both.padded([], pad=0).size == 0


def test_pairs_survive_packing_and_joining() -> None:
    packed = EncodedPairs.concatenate([EncodedPairs.pack(PAIRS[:1]), EncodedPairs.pack(PAIRS[1:])])
    assert [(p.source, p.target, list(p.glosses)) for p in packed] == [
        (p.source, p.target, list(p.glosses)) for p in PAIRS
    ]


def test_a_batch_shifts_pads_and_points_at_glossed_words() -> None:
    batch = make_batch(
        EncodedPairs.pack(PAIRS), np.array([2, 1]), ModelConfig(vocab_size=20), torch.device("cpu")
    )
    assert batch.source.tolist() == [[4, 4, 4, 3], [8, 3, 0, 0]]
    assert batch.target_in.tolist() == [[2, 12, 13, 3], [2, 9, 10, 11]]
    assert batch.target.tolist() == [12, 13, 3, 9, 10, 11, 3]
    assert batch.real.tolist() == [0, 1, 2, 4, 5, 6, 7]
    assert batch.tokens == 7
    assert batch.gloss_at.tolist() == [1, 2]
    assert batch.gloss_pieces.tolist() == [12, 13]


def test_glosses_of_a_later_row_count_from_the_start_of_that_row() -> None:
    batch = make_batch(
        EncodedPairs.pack(PAIRS), np.array([1, 2]), ModelConfig(vocab_size=20), torch.device("cpu")
    )
    assert batch.gloss_at.tolist() == [5, 6]
    assert batch.source.flatten()[batch.gloss_at].tolist() == [4, 4]
