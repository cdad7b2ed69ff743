from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from core.analysis.work import (
    cache_size,
    comparisons,
    comparisons_without_cache,
    cost,
    decoding_work,
    encoder_work,
    pass_work,
    step_work,
)
from core.config import ModelConfig
from core.model.product import choosing
from core.model.product_choice import UNMEASURED
from core.model.transformer import Transformer
from tests.core.analysis.test_boxes import PRUNED
from tests.core.model.small import random_ids, small_config, small_transformer

SHAPES: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "unlike widths": {"d_k": 5, "d_v": 3, "encoder_d_ff": 9},
    "unlike stacks": {"encoder_layers": 3, "decoder_heads": 6},
    "two vocabularies": {"target_vocab_size": 31, "shared_embeddings": "target"},
    "pruned": PRUNED,
}
N, M = 7, 5


@pytest.fixture(params=SHAPES.values(), ids=SHAPES.keys())
def model(request: pytest.FixtureRequest) -> Transformer:
    return small_transformer(**request.param)


def counted(compute: Any) -> int:
    """Multiply-adds by torch's own counter, which counts each as two operations."""
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), choosing(UNMEASURED), sdpa_kernel(SDPBackend.MATH), counter:
        compute()
    flops = counter.get_total_flops()
    assert flops % 2 == 0
    return flops // 2


def test_a_pass_is_what_torch_counts(model: Transformer) -> None:
    source, target = random_ids(1, N), random_ids(1, M, seed=1)
    assert counted(lambda: model(source, target)) == pass_work(model.config, N, M).total


def test_decoding_is_what_torch_counts_step_by_step(model: Transformer) -> None:
    source, target = random_ids(1, N), random_ids(M, seed=1)
    memory = model.encode(source).detach()
    cache = model.start_cache(memory, source, capacity=M)
    steps = [counted(lambda i=i: model.step(target[i : i + 1], cache)) for i in range(M)]
    assert steps == [step_work(model.config, N, i).total for i in range(1, M + 1)]
    start = counted(
        lambda: model.start_cache(model.encode(source), source, capacity=M),
    )
    assert start == encoder_work(model.config, N).total
    assert start + sum(steps) == decoding_work(model.config, N, M).total


def test_parts_of_the_base_model_by_hand() -> None:
    work = pass_work(ModelConfig(vocab_size=37_000), 20, 30)
    assert work.embedding == 0
    block = 512 * 512
    assert work.projections == 6 * (4 * 20 + 4 * 30 + 2 * 30 + 2 * 20) * block
    assert work.scores == 6 * 2 * 512 * (20 * 20 + 30 * 30 + 30 * 20)
    assert work.feed_forward == 6 * 50 * 2 * 512 * 2048
    assert work.output == 30 * 512 * 37_000
    assert work.to_dict()["total"] == work.total


def test_the_cache_has_the_bytes_of_its_tensors(model: Transformer) -> None:
    source = random_ids(1, N)
    with torch.no_grad():
        cache = model.start_cache(model.encode(source), source, capacity=M)
    size = cache_size(model.config)
    assert cache.keys.nbytes + cache.values.nbytes == size.of(0, M)
    for layer, (keys, values) in enumerate(cache.cross):
        assert keys.nbytes + values.nbytes == size.of_layer(layer, N, 0)


def test_the_base_models_cache() -> None:
    size = cache_size(ModelConfig(vocab_size=37_000))
    assert size.own == size.cross == (4_096,) * 6
    assert size.of(0, 1) == 24_576
    assert size.of_layer(0, 1_000, 10_000) == 11_000 * 4_096


def test_comparisons() -> None:
    assert [comparisons(n) for n in (0, 1, 4, 100)] == [0, 1, 10, 5_050]
    for n in range(6):
        again = sum(comparisons(i) for i in range(1, n + 1))
        assert comparisons_without_cache(n) == again


def test_the_cost_as_json() -> None:
    config = small_config()
    found = cost(config, N, M)
    assert found["comparisons"] == {
        **{"last_step": 5, "all_steps": 15, "all_steps_without_cache": 35},
    }
    assert found["multiply_adds"]["whole_pass"]["total"] == pass_work(config, N, M).total
    assert sum(found["cache_bytes"]["layers"]) == found["cache_bytes"]["total"]
