from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from core.training import loss as module
from core.training.loss import cross_entropies, cross_entropy

N, D, V = 7, 5, 9


def of_logits(logits: Tensor, target: list[int], smoothing: float = 0.0) -> float:
    """The loss where the hidden vectors are the logits themselves."""
    identity = torch.eye(logits.shape[1])
    return cross_entropy(logits, identity, None, torch.tensor(target), smoothing=smoothing).item()


def inputs(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    hidden, weight, bias = (
        torch.randn(*shape, dtype=dtype, requires_grad=True) for shape in ((N, D), (V, D), (V,))
    )
    return hidden, weight, bias, torch.randint(0, V, (N,))


def test_smoothed_loss_of_two_tokens_by_hand() -> None:
    # p = (1/2, 1/4, 1/8, 1/8), ε = 0.2, right token 1, in units of log 2:
    # 0.8 · 2 + 0.2 · (1 + 2 + 3 + 3) / 4 = 2.05; a uniform row has loss 2 whatever ε is.
    logits = torch.tensor([[0.5, 0.25, 0.125, 0.125], [1.0, 1.0, 1.0, 1.0]]).log()
    assert of_logits(logits, [1, 3], 0.2) == pytest.approx(4.05 * math.log(2.0), abs=1e-6)


def test_unsmoothed_loss_is_the_log_of_the_probability() -> None:
    logits = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
    assert of_logits(logits, [2]) == pytest.approx(3.0 * math.log(2.0), abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("chunk", [1, 3, 7, 512])
def test_value_and_gradients_are_those_of_torch(
    smoothing: float, biased: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    hidden, weight, some_bias, target = inputs()
    bias = some_bias if biased else None
    leaves = [x for x in (hidden, weight, bias) if x is not None]
    ours = cross_entropy(hidden, weight, bias, target, smoothing=smoothing)
    logits = F.linear(hidden, weight, bias)
    twin = F.cross_entropy(logits, target, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(ours, twin)
    torch.testing.assert_close(
        torch.autograd.grad(3.0 * ours, leaves), torch.autograd.grad(3.0 * twin, leaves)
    )


def test_the_plain_loss_beside_it_is_the_one_without_smoothing() -> None:
    hidden, weight, bias, target = inputs()
    loss, plain = cross_entropies(hidden, weight, bias, target, smoothing=0.1)
    assert loss.item() == cross_entropy(hidden, weight, bias, target, smoothing=0.1).item()
    assert plain.item() == cross_entropy(hidden, weight, bias, target).item()
    assert loss.requires_grad
    assert not plain.requires_grad


def test_no_position_gives_zero_and_no_gradient() -> None:
    hidden, weight, bias, target = inputs()
    loss = cross_entropy(hidden[:0], weight, bias, target[:0], smoothing=0.1)
    assert loss.item() == 0.0
    assert not any(x.any() for x in torch.autograd.grad(loss, (hidden, weight, bias)))


def test_without_gradients_the_value_is_the_same() -> None:
    hidden, weight, bias, target = inputs()
    loss = cross_entropy(hidden, weight, bias, target, smoothing=0.1)
    with torch.no_grad():
        plain = cross_entropy(hidden, weight, bias, target, smoothing=0.1)
    assert loss.requires_grad
    assert not plain.requires_grad
    assert plain.item() == loss.item()


def test_products_in_half_precision_are_summed_in_float32() -> None:
    hidden, weight, bias, target = inputs(torch.float32)
    exact = cross_entropy(hidden, weight, bias, target, smoothing=0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = cross_entropy(hidden, weight, bias, target, smoothing=0.1)
    assert loss.dtype == torch.float32
    assert loss.item() != exact.item()
    assert loss.item() == pytest.approx(exact.item(), rel=1e-2)
    leaves = (hidden, weight, bias)
    for ours, twin in zip(
        torch.autograd.grad(loss, leaves), torch.autograd.grad(exact, leaves), strict=True
    ):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, twin, rtol=0.05, atol=0.05)
