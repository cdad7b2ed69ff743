from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from core.model.attention import CrossAttention, SelfAttention, attend, attention_weights

BATCH, HEADS, QUERIES, KEYS = 2, 3, 5, 7
SHAPES = [(4, 4), (4, 6), (1, 1), (8, 3)]  # d_k, d_v


def heads(d_k: int, d_v: int, keys: int = KEYS) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(d_k * 10 + d_v)

    def normal(*shape: int) -> Tensor:
        return torch.randn(BATCH, HEADS, *shape, generator=generator)

    return normal(QUERIES, d_k), normal(keys, d_k), normal(keys, d_v)


def test_the_papers_toy_example() -> None:
    query = torch.tensor([[0.0, 1.0]])
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    value = torch.tensor([[1.0, 0.0], [0.0, 2.0], [2.0, 1.0]])
    assert (query @ key.T).tolist() == [[0.0, 1.0, -1.0]]
    weights = attention_weights(query, key)
    torch.testing.assert_close(weights, torch.tensor([[0.284, 0.576, 0.140]]), atol=5e-4, rtol=0)
    output = attend(query[None, None], key[None, None], value[None, None])
    torch.testing.assert_close(output[0, 0], torch.tensor([[0.56, 1.29]]), atol=5e-3, rtol=0)


def test_scaling_brings_the_standard_deviation_of_scores_from_8_to_1() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 100_000, 64, generator=generator)
    raw = (query * key).sum(-1)
    assert raw.std().item() == pytest.approx(8.0, rel=0.02)
    assert (raw / math.sqrt(64)).std().item() == pytest.approx(1.0, rel=0.02)


def test_eight_heads_have_as_many_parameters_as_one_of_full_width() -> None:
    def count(block: torch.nn.Module) -> int:
        return sum(parameter.numel() for parameter in block.parameters())

    assert count(SelfAttention(512, range(1), 512, 512, bias=False)) == 4 * 512**2 == 1_048_576
    assert count(SelfAttention(512, range(8), 64, 64, bias=False)) == 1_048_576
    assert count(CrossAttention(512, range(8), 64, 64, bias=False)) == 1_048_576


MASKS: dict[str, Callable[[], Tensor | None]] = {
    "none": lambda: None,
    "source padding": lambda: (torch.arange(KEYS) < torch.tensor([[3], [7]]))[:, None, None],
    "per query": lambda: (torch.arange(QUERIES)[:, None] + torch.arange(KEYS)) % 3 != 0,
    "one query may attend to nothing": lambda: (
        torch.ones(QUERIES, KEYS).bool().index_fill(0, torch.tensor([2]), False)
    ),
    "nothing allowed": lambda: torch.zeros(BATCH, 1, 1, KEYS).bool(),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_attend_equals_its_slow_twin(
    mask: Callable[[], Tensor | None], shape: tuple[int, int]
) -> None:
    query, key, value = heads(*shape)
    allowed = mask()
    expected = attention_weights(query, key, allowed) @ value
    torch.testing.assert_close(attend(query, key, value, allowed), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_causal_is_the_lower_triangle(shape: tuple[int, int]) -> None:
    query, key, value = heads(*shape, keys=QUERIES)
    weights = attention_weights(query, key, torch.ones(QUERIES, QUERIES).tril().bool())
    assert torch.equal(weights, weights.tril())
    torch.testing.assert_close(
        attend(query, key, value, causal=True), weights @ value, atol=1e-6, rtol=1e-5
    )


def test_rows_add_up_to_one_and_masked_weights_are_exactly_zero() -> None:
    query, key, _ = heads(4, 4)
    allowed = MASKS["per query"]()
    assert allowed is not None
    weights = attention_weights(30 * query, 30 * key, allowed)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, QUERIES))
    assert (weights.masked_select(~allowed) == 0).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("function", ["fused", "written out"])
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients(
    function: str, shape: tuple[int, int]
) -> None:
    tensors = [tensor.requires_grad_() for tensor in heads(*shape)]
    query, key, value = tensors
    allowed = MASKS["one query may attend to nothing"]()
    if function == "fused":
        output = attend(query, key, value, allowed)
    else:
        output = attention_weights(query, key, allowed) @ value
    assert (output[:, :, 2] == 0).all()
    assert (output[:, :, 1] != 0).any()
    output.square().sum().backward()
    for tensor in tensors:
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()
    assert (query.grad[:, :, 2] == 0).all()  # type: ignore[index]


def test_softmax_runs_in_float32_for_half_precision() -> None:
    query, key, _ = heads(4, 4)
    weights = attention_weights(query.half(), key.half())
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights, attention_weights(query, key), atol=5e-3, rtol=0)


def test_large_scores_do_not_overflow() -> None:
    query, key, value = heads(4, 4)
    weights = attention_weights(1e4 * query, 1e4 * key)
    assert weights.isfinite().all()
    torch.testing.assert_close(attend(1e4 * query, 1e4 * key, value), weights @ value)


def test_split_and_merge_keep_heads_in_order() -> None:
    block = SelfAttention(6, range(3), 2, 2, bias=False)
    with torch.no_grad():
        block.output.weight.copy_(torch.eye(6))
    x = torch.arange(24.0).view(1, 4, 6)
    split = block.split(x, 2)
    assert split.shape == (1, 3, 4, 2)
    assert torch.equal(split[0, 1], x[0, :, 2:4])
    assert torch.equal(block.merge(split), x)
