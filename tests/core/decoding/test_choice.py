from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.config import ModelConfig
from core.decoding.choice import best_continuations, best_next, top_k

CONFIG = ModelConfig(vocab_size=7)  # pad 0, unknown 1, begin 2, end 3


@given(
    sentences=st.integers(1, 3),
    rows=st.integers(1, 4),
    width=st.integers(1, 400),
    k=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_top_k_is_topk(sentences: int, rows: int, width: int, k: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    values = torch.randn(sentences, rows, width, generator=random)
    offsets = torch.randn(sentences, rows, generator=random)
    k = min(k, rows * width)
    for sums, found in (
        (values, top_k(values, k)),
        (values + offsets[..., None], top_k(values, k, offsets)),
    ):
        expected = sums.flatten(1).topk(k)
        assert torch.equal(found[0], expected.values)
        assert torch.equal(found[1], expected.indices)


@pytest.mark.parametrize("row", [0, 2])
@pytest.mark.parametrize("column", [0, 31, 32, 255, 256, 299])
def test_top_k_finds_the_largest_wherever_it_stands(row: int, column: int) -> None:
    values = torch.zeros(2, 3, 300)
    values[1, row, column] = 1.0
    best, where = top_k(values, 1)
    assert where[1].item() == 300 * row + column
    assert best[:, 0].tolist() == [0.0, 1.0]


def test_top_k_with_equal_and_impossible_values_gives_different_columns() -> None:
    values = torch.full((1, 1, 300), float("-inf"))
    values[0, 0, [5, 6, 299]] = 2.0
    best, where = top_k(values, 4)
    assert best[0].tolist() == [2.0, 2.0, 2.0, float("-inf")]
    assert set(where[0, :3].tolist()) == {5, 6, 299}
    assert len(set(where[0].tolist())) == 4


def test_the_best_continuations_come_from_all_rows_of_their_own_sentence() -> None:
    never = float("-inf")
    so_far = torch.tensor([[-1.0, -2.0], [0.0, never]])  # two sentences, two rows each
    probabilities = torch.tensor(  # of tokens 3 to 6, each row's sum 1
        [[0.7, 0.1, 0.1, 0.1], [0.6, 0.4, 0.0, 0.0], [0.3, 0.2, 0.1, 0.4], [0.9, 0.1, 0.0, 0.0]]
    )
    logits = torch.cat([torch.full((4, 3), never), probabilities.log()], dim=1)
    best, parents, tokens = best_continuations(logits, so_far, CONFIG, [False] * 4)
    expected = [[-1 + math.log(0.7), -2 + math.log(0.6), -2 + math.log(0.4), -1 + math.log(0.1)]]
    expected += [[math.log(share) for share in (0.4, 0.3, 0.2, 0.1)]]
    torch.testing.assert_close(best, torch.tensor(expected))
    assert parents.tolist() == [[0, 1, 1, 0], [0, 0, 0, 0]]
    assert tokens[0, :3].tolist() == [3, 3, 4]
    assert tokens[1].tolist() == [6, 3, 4, 5]


@pytest.mark.parametrize("must_end", [False, True])
@pytest.mark.parametrize("vocabulary", [7, 300])
def test_continuations_are_the_best_of_each_row_put_together(
    vocabulary: int, must_end: bool
) -> None:
    config = replace(CONFIG, vocab_size=vocabulary)
    logits, so_far = torch.randn(6, vocabulary), torch.randn(2, 3)
    ends = [must_end] * 3 + [False] * 3
    of_rows, tokens_of_rows = best_next(logits.clone(), 6, config, ends)
    expected, where = (so_far.view(6, 1) + of_rows).view(2, -1).topk(6)
    best, parents, tokens = best_continuations(logits, so_far, config, ends)
    torch.testing.assert_close(best, expected)
    possible = expected > float("-inf")
    count = of_rows.shape[1]
    assert torch.equal(parents[possible], (where // count)[possible])
    assert torch.equal(tokens[possible], tokens_of_rows.view(2, -1).gather(1, where)[possible])


def test_padding_and_begin_never_come_next_and_keep_their_share() -> None:
    logits = torch.tensor([[9.0, 0.0, 8.0, 1.0, 3.0, 2.0, -1.0]])
    expected = logits.log_softmax(dim=-1)[0]
    best, tokens = best_next(logits.clone(), 7, CONFIG, [False])
    assert tokens[0, :5].tolist() == [4, 5, 3, 1, 6]
    torch.testing.assert_close(best[0, :5], expected[tokens[0, :5]])
    assert best[0, 5:].tolist() == [float("-inf")] * 2


def test_a_row_that_must_end_has_the_end_token_alone() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, -4.0, 3.0, 2.0, 1.0]]).repeat(2, 1)
    expected = logits.log_softmax(dim=-1)[0]
    best, tokens = best_next(logits.clone(), 2, CONFIG, [False, True])
    assert tokens[0].tolist() == [4, 5]
    assert tokens[1, 0].item() == CONFIG.eos_id
    torch.testing.assert_close(best[1, 0], expected[CONFIG.eos_id])
    assert best[1, 1].item() == float("-inf")


def test_no_more_candidates_than_tokens() -> None:
    best, tokens = best_next(torch.randn(3, 7), 20, CONFIG, [False] * 3)
    assert best.shape == tokens.shape == (3, 7)


def test_what_is_never_chosen_keeps_its_share() -> None:
    config = replace(CONFIG, unchosen_ids=(CONFIG.unk_id,))
    logits = torch.tensor([[9.0, 8.0, 7.0, 1.0, 3.0, 2.0, -1.0]])
    expected = logits.log_softmax(dim=-1)[0]
    best, tokens = best_next(logits.clone(), 7, config, [False])
    assert tokens[0, :4].tolist() == [4, 5, 3, 6]
    torch.testing.assert_close(best[0, :4], expected[tokens[0, :4]])
    assert best[0, 4:].tolist() == [float("-inf")] * 3


def test_an_end_that_is_free_costs_nothing_where_it_has_to_come() -> None:
    logits = torch.randn(2, 7)
    best, tokens = best_next(logits.clone(), 7, CONFIG, [False, True], free_end=True)
    usual, _ = best_next(logits.clone(), 7, CONFIG, [False, True])
    assert torch.equal(best[0], usual[0])
    assert (tokens[1, 0].item(), best[1, 0].item()) == (CONFIG.eos_id, 0.0)
