from __future__ import annotations

import pytest
import torch

from core.training.position_cosine import position_cosine


def test_equal_and_orthogonal_outputs() -> None:
    same = torch.tensor([[[3.0, 0.0], [5.0, 0.0], [1.0, 0.0]]])
    real = torch.ones(1, 3, dtype=torch.bool)
    assert position_cosine(same, real) == pytest.approx(1.0)
    assert position_cosine(torch.eye(3)[None], real) == pytest.approx(0.0, abs=1e-6)


def test_it_is_the_mean_over_pairs_of_real_positions() -> None:
    torch.manual_seed(0)
    memory = torch.randn(3, 5, 8)
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True] + [False] * 4])
    cosines = [
        torch.cosine_similarity(memory[row, i], memory[row, j], dim=0).item()
        for row in range(3)
        for i in range(5)
        for j in range(5)
        if i != j and real[row, i] and real[row, j]
    ]
    assert position_cosine(memory, real) == pytest.approx(sum(cosines) / len(cosines), abs=1e-6)


def test_single_tokens_have_no_pairs() -> None:
    memory = torch.randn(2, 1, 4)
    assert position_cosine(memory, torch.ones(2, 1, dtype=torch.bool)) == pytest.approx(0, abs=1e-6)
