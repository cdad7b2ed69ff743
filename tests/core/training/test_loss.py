from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from core.training.loss import negative_log_likelihood, smoothed_loss

PAD = 0


def test_smoothed_loss_of_two_tokens_by_hand() -> None:
    # p = (1/2, 1/4, 1/8, 1/8), ε = 0.2, right token 1, in units of log 2:
    # 0.8 · 2 + 0.2 · (1 + 2 + 3 + 3) / 4 = 2.05; a uniform row has loss 2 whatever ε is.
    logits = torch.tensor([[0.5, 0.25, 0.125, 0.125], [1.0, 1.0, 1.0, 1.0]]).log()
    loss, tokens = smoothed_loss(logits, torch.tensor([1, 3]), pad_id=PAD, smoothing=0.2)
    assert tokens == 2
    assert loss.item() == pytest.approx((2.05 + 2.0) * math.log(2.0), abs=1e-6)


def test_unsmoothed_loss_is_the_log_of_the_probability() -> None:
    logits = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
    loss, tokens = negative_log_likelihood(logits, torch.tensor([2]), pad_id=PAD)
    assert tokens == 1
    assert loss.item() == pytest.approx(3.0 * math.log(2.0), abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_padding_counts_in_neither_term(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = torch.randn(5, 7, requires_grad=True)
    target = torch.tensor([3, PAD, 1, PAD, 6])
    loss, tokens = smoothed_loss(logits, target, pad_id=PAD, smoothing=smoothing)
    kept, kept_tokens = smoothed_loss(
        logits[target != PAD], target[target != PAD], pad_id=PAD, smoothing=smoothing
    )
    assert tokens == kept_tokens == 3
    torch.testing.assert_close(loss, kept)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert torch.equal(gradient[target == PAD], torch.zeros(2, 7))
    assert (gradient[target != PAD] != 0).all()


def test_only_padding_gives_zero_and_no_token() -> None:
    loss, tokens = smoothed_loss(torch.randn(2, 4), torch.tensor([0, 0]), pad_id=PAD, smoothing=0.1)
    assert (loss.item(), tokens) == (0.0, 0)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_value_and_gradient_are_those_of_torch(smoothing: float) -> None:
    torch.manual_seed(1)
    logits = torch.randn(6, 9, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([1, 8, PAD, 2, 2, 5])
    ours, _ = smoothed_loss(logits, target, pad_id=PAD, smoothing=smoothing)
    twin = F.cross_entropy(
        logits, target, ignore_index=PAD, label_smoothing=smoothing, reduction="sum"
    )
    torch.testing.assert_close(ours, twin)
    ours_gradient = torch.autograd.grad(3.0 * ours, logits)[0]
    torch.testing.assert_close(ours_gradient, torch.autograd.grad(3.0 * twin, logits)[0])


def test_half_precision_is_summed_in_float32() -> None:
    logits = torch.randn(4, 9).to(torch.bfloat16)
    loss, _ = smoothed_loss(logits, torch.tensor([1, 2, 3, 4]), pad_id=PAD, smoothing=0.1)
    assert loss.dtype == torch.float32
