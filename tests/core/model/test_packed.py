from __future__ import annotations

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from core.model import packed
from core.model.packed import PackedLinear
from tests.core.model.small import small_transformer


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_LARGE", 0)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("words", [1, 128, 301])
@pytest.mark.parametrize("biased", [True, False])
def test_the_same_as_the_library(words: int, biased: bool) -> None:
    weight = numbers(words, 48)
    bias = numbers(words, seed=1) if biased else None
    linear = PackedLinear()
    for rows in (5, 1, 2, 3, 16, 33, 128, 300, 0):
        x = numbers(rows, 48, seed=2)
        with torch.inference_mode():
            for given in (x, x.view(1, rows, 48), x.t().contiguous().t()):
                found, expected = linear(given, weight, bias), F.linear(given, weight, bias)
                assert found.shape == expected.shape
                torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.skipif(not packed._CAN_PACK, reason="this torch cannot pack")
def test_packed_again_for_more_threads() -> None:
    weight, x, linear = numbers(4096, 64), numbers(32, 64, seed=1), PackedLinear()
    before, copies = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            with torch.inference_mode():
                found, expected = linear(x, weight, None), F.linear(x, weight)
            torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
            copies.append(linear._copy)
    finally:
        torch.set_num_threads(before)
    assert copies[0] is not copies[1]  # what is packed for one thread is multiplied on one
    assert copies[1] is copies[2]


def test_a_torch_without_its_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_CAN_PACK", False)
    weight, x, linear = numbers(300, 16), numbers(4, 16, seed=1), PackedLinear()
    with torch.no_grad():
        assert torch.equal(linear(x, weight, None), F.linear(x, weight))
    assert linear._copy is None


def test_changed_weights_are_packed_again() -> None:
    weight, x, linear = numbers(300, 16), numbers(4, 16, seed=1), PackedLinear()
    with torch.no_grad():
        first = linear(x, weight, None)
        weight *= 2
        torch.testing.assert_close(linear(x, weight, None), 2 * first)
        torch.testing.assert_close(linear(x, weight.clone(), None), 2 * first)
        weight.data = 2 * weight.data
        torch.testing.assert_close(linear(x, weight, None), 4 * first)
        weight.data = weight.data / 2
        weight.data.mul_(2)  # unseen
        linear.forget()
        torch.testing.assert_close(linear(x, weight, None), 4 * first)


def test_a_model_packs_again_after_training() -> None:
    model = small_transformer().eval()
    hidden = numbers(4, model.config.d_model)
    with torch.no_grad():
        first = model.logits(hidden)
        model.train()
        model.output_embedding.weight.data.mul_(2)  # as a fused optimiser does, unseen
        model.eval()
        torch.testing.assert_close(model.logits(hidden), 2 * first)


def test_copies_and_pickles_pack_for_themselves() -> None:
    weight, x, linear = numbers(300, 16), numbers(4, 16, seed=1), PackedLinear()
    with torch.no_grad():
        expected = linear(x, weight, None)
        for twin in (copy.deepcopy(linear), pickle.loads(pickle.dumps(linear))):
            assert vars(twin) == vars(PackedLinear())
            torch.testing.assert_close(twin(x, weight, None), expected)


def test_gradients_flow() -> None:
    weight = torch.ones(256, 4, requires_grad=True)
    PackedLinear()(torch.ones(4, 4), weight, None).sum().backward()
    assert weight.grad is not None
    assert torch.equal(weight.grad, torch.full((256, 4), 4.0))
