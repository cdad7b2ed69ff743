"""Dropout on the CPU against what it promises."""

import pytest
import torch

from core.model.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.999])
def test_share_and_scale(p: float) -> None:
    torch.manual_seed(1)
    n = 400_003
    y = Dropout(p)(torch.ones(n))
    kept = y != 0
    assert kept.float().mean().item() == pytest.approx(
        1 - p, abs=4 * (p * (1 - p) / n) ** 0.5 + 1e-5
    )
    torch.testing.assert_close(y[kept].unique(), torch.tensor([1 / (1 - p)]), rtol=2e-2, atol=0)
    assert y[kept].unique().numel() == 1


def test_nearly_everything_may_be_dropped() -> None:
    torch.manual_seed(1)
    assert Dropout(0.999_999)(torch.ones(1_000)).isfinite().all()


def test_neighbours_are_independent() -> None:
    torch.manual_seed(2)
    kept = (Dropout(0.5)(torch.ones(400_000)) != 0).float() - 0.5
    for lag in range(1, 9):
        correlation = (kept[lag:] * kept[:-lag]).mean().item() * 4
        assert abs(correlation) < 0.01


def test_gradient_is_the_mask() -> None:
    torch.manual_seed(3)
    x = torch.randn(5, 7, 3, requires_grad=True)
    y = Dropout(0.4)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad * x.detach(), y.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_added_in_one_go_is_added_afterwards(dtype: torch.dtype) -> None:
    x, y = torch.randn(2, 5, 7, 3, dtype=dtype, requires_grad=True)
    dropout = Dropout(0.4)
    torch.manual_seed(3)
    ours = dropout.add(x, y)
    torch.manual_seed(3)
    twin = x + dropout(y)
    torch.testing.assert_close(ours, twin)
    torch.testing.assert_close(
        torch.autograd.grad(ours.square().sum(), (x, y)),
        torch.autograd.grad(twin.square().sum(), (x, y)),
    )


def test_the_seed_decides() -> None:
    def draw(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return Dropout(0.3)(torch.ones(1000))

    assert torch.equal(draw(4), draw(4))
    assert not torch.equal(draw(4), draw(5))


def test_evaluation_changes_nothing() -> None:
    x, y = torch.randn(2, 10)
    for dropout in Dropout(0.9).eval(), Dropout(0.0):
        assert dropout(x) is x
        assert torch.equal(dropout.add(x, y), x + y)
