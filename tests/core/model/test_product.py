"""Every kernel computes what torch's own product does, at any time and with any layout."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.model.kernels import PRESENT
from core.model.product import (
    Linear,
    Product,
    add_product,
    choose,
    choosing,
    chosen,
    multiply,
    store_as_chosen,
)
from core.model.product_choice import KERNELS, MKL_PACKED, ONEDNN, ONEDNN_PACKED, TORCH, forced
from tests.core.model.small import random_ids, small_transformer

PACKED = [name for name in (MKL_PACKED, ONEDNN_PACKED) if name in PRESENT]


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> str:
    """In use."""
    name: str = request.param
    if name not in PRESENT:
        pytest.skip(f"this torch lacks {name}")
    choose(forced(name))
    return name


@pytest.fixture(params=PACKED)
def packed(request: pytest.FixtureRequest) -> str:
    """In use, and keeps a copy of W."""
    name: str = request.param
    choose(forced(name))
    return name


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("outputs", [1, 128, 301])
@pytest.mark.parametrize("biased", [True, False])
def test_the_same_as_the_library(kernel: str, outputs: int, biased: bool) -> None:
    weight = numbers(outputs, 48)
    bias = numbers(outputs, seed=1) if biased else None
    for stored in (weight, weight.t().contiguous().t()):
        product = Product()
        for rows in (5, 1, 2, 3, 16, 33, 128, 300, 0):
            x = numbers(rows, 48, seed=2)
            with torch.inference_mode():
                for given in (x, x.view(1, rows, 48), x.t().contiguous().t()):
                    found, expected = product(given, stored, bias), F.linear(given, weight, bias)
                    assert found.shape == expected.shape
                    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 1), (0,)])
def test_gradients_are_the_library_s(kernel: str, shape: tuple[int, ...], biased: bool) -> None:
    def made(layer: type[nn.Linear]) -> tuple[Tensor, list[Tensor]]:
        linear = layer(16, 24, bias=biased)
        with torch.no_grad():
            for parameter in linear.parameters():
                parameter.copy_(numbers(*parameter.shape))
        x = numbers(*shape, 16, seed=1).requires_grad_()
        y: Tensor = linear(x)
        y.backward(numbers(*y.shape, seed=2))
        leaves = [x, *linear.parameters()]
        return y, [leaf.grad for leaf in leaves if leaf.grad is not None]

    y, gradients = made(Linear)
    expected, others = made(nn.Linear)
    torch.testing.assert_close(y, expected, atol=1e-5, rtol=1e-5)
    assert len(gradients) == len(others) == 2 + biased
    for mine, theirs in zip(gradients, others, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-5)


def test_only_the_gradients_that_are_wanted(kernel: str) -> None:
    linear = Linear(4, 4).requires_grad_(False)
    x = numbers(3, 4).requires_grad_()
    linear(x).sum().backward()
    assert linear.weight.grad is None
    torch.testing.assert_close(x.grad, linear.weight.sum(dim=0).expand(3, 4))


def test_products_outside_of_autograd(kernel: str) -> None:
    x, weight = numbers(7, 16), numbers(9, 16, seed=1)
    expected = F.linear(x, weight)
    torch.testing.assert_close(multiply(x, weight), expected)
    torch.testing.assert_close(multiply(x, weight, out=torch.empty(7, 9)), expected)
    torch.testing.assert_close(multiply(expected, weight.t()), expected @ weight)
    total = torch.ones(7, 9)
    add_product(total, x, weight)
    torch.testing.assert_close(total, 1 + expected)


def test_other_numbers_are_torch_s(kernel: str) -> None:
    for dtype in (torch.float64, torch.bfloat16):
        linear, x = Linear(8, 8).to(dtype), numbers(4, 8).to(dtype)
        expected = F.linear(x, linear.weight, linear.bias)
        assert torch.equal(linear(x), expected)
        with torch.no_grad():
            assert torch.equal(linear(x), expected)
        assert torch.equal(multiply(x, linear.weight), x @ linear.weight.t())


def test_without_rows_or_columns(kernel: str) -> None:
    """As in a layer whose heads are all pruned."""
    with torch.no_grad():
        assert Product()(numbers(3, 0), numbers(4, 0), torch.ones(4)).tolist() == [[1.0] * 4] * 3
        assert Product()(numbers(3, 4), numbers(0, 4), None).shape == (3, 0)


def test_a_model_decodes_what_it_computes_whole(kernel: str) -> None:
    with choosing(forced(TORCH)):
        expected = _logits(small_transformer())
    model = small_transformer()
    store_as_chosen(model)
    whole = _logits(model)
    torch.testing.assert_close(whole, expected, atol=1e-4, rtol=1e-4)
    source, target = random_ids(3, 7), random_ids(3, 5, seed=1)
    with torch.inference_mode():
        cache = model.start_cache(model.encode(source), source, capacity=5)
        stepped = torch.stack([model.step(target[:, at], cache) for at in range(5)], dim=1)
    torch.testing.assert_close(stepped, whole, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def _logits(model: nn.Module) -> Tensor:
    logits: Tensor = model(random_ids(3, 7), random_ids(3, 5, seed=1))
    return logits


@pytest.mark.parametrize("wish", ["columns", "torch"])
def test_the_layout_changes_no_value(wish: str) -> None:
    choose(forced(wish))
    model, twin = small_transformer(), small_transformer()
    store_as_chosen(model)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    assert linears
    assert all(one.weight.t().is_contiguous() == (wish == "columns") for one in linears)


def test_packed_again_for_more_threads(packed: str) -> None:
    weight, x, product = numbers(4096, 64), numbers(32, 64, seed=1), Product()
    before, copies = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            with torch.inference_mode():
                found, expected = product(x, weight, None), F.linear(x, weight)
            torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
            copies.append(product._copies[packed])
    finally:
        torch.set_num_threads(before)
    assert copies[0] is not copies[1]  # what is packed for one thread is multiplied on one
    assert copies[1] is copies[2]


def test_a_torch_that_lacks_the_kernel(packed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PRESENT, packed)
    monkeypatch.delitem(PRESENT, ONEDNN, raising=False)
    weight, x, product = numbers(300, 16).requires_grad_(), numbers(4, 16, seed=1), Product()
    expected = F.linear(x, weight)
    assert torch.equal(product(x, weight, None), expected)
    with torch.no_grad():
        assert torch.equal(product(x, weight, None), expected)
        assert torch.equal(multiply(x, weight), expected)
    assert not product._copies


def test_changed_weights_are_packed_again(packed: str) -> None:
    weight, x, product = numbers(300, 16), numbers(4, 16, seed=1), Product()
    with torch.no_grad():
        first = product(x, weight, None)
        assert packed in product._copies
        weight *= 2
        torch.testing.assert_close(product(x, weight, None), 2 * first)
        torch.testing.assert_close(product(x, weight.clone(), None), 2 * first)
        weight.data = 2 * weight.data
        torch.testing.assert_close(product(x, weight, None), 4 * first)
        weight.data = weight.data / 2
        weight.data.mul_(2)  # unseen
        product.forget()
        torch.testing.assert_close(product(x, weight, None), 4 * first)


def test_a_model_packs_again_after_training(packed: str) -> None:
    model = small_transformer().eval()
    first = _logits(model)
    twin = small_transformer()
    for one in (model, twin):
        one.train()
        for parameter in one.parameters():
            parameter.data.mul_(1.1)  # as a fused optimiser does, unseen
        one.eval()
    torch.testing.assert_close(_logits(model), _logits(twin), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(_logits(model), first)


def test_copies_and_pickles_pack_for_themselves(packed: str) -> None:
    weight, x, product = numbers(300, 16), numbers(4, 16, seed=1), Product()
    with torch.no_grad():
        expected = product(x, weight, None)
        for twin in (copy.deepcopy(product), pickle.loads(pickle.dumps(product))):
            assert vars(twin) == vars(Product())
            torch.testing.assert_close(twin(x, weight, None), expected)


def test_a_choice_ends_with_its_block() -> None:
    before = chosen()
    with choosing(forced(TORCH)):
        assert chosen() == forced(TORCH)
    assert chosen() is before
