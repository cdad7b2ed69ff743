from __future__ import annotations

import pytest
import torch
from torch import nn

from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.gates import Gates, gated
from core.model.int8 import Int8Linear, to_int8
from tests.core.model.small import padded, random_ids, small_transformer


@pytest.mark.parametrize("shape", [(1, 16), (2, 3, 16)])
@pytest.mark.parametrize("biased", [True, False])
def test_errs_by_no_more_than_the_steps(shape: tuple[int, ...], biased: bool) -> None:
    numbers = torch.Generator().manual_seed(len(shape))
    x = torch.randn(*shape, generator=numbers)
    # Stored column by column, and with rows of very different size.
    weight = torch.randn(16, 40, generator=numbers).t() * torch.logspace(-3, 2, 40)[:, None]
    bias = torch.randn(40, generator=numbers) if biased else None
    found = Int8Linear(weight, bias)(x)
    exact = x @ weight.t() + (0 if bias is None else bias)
    steps = weight.abs().amax(dim=1) / 127  # [outputs]
    input_step = float(x.max() - x.min()) / 127
    bound = (x.abs().sum(-1, keepdim=True) + 16 * input_step) * steps / 2
    bound = bound + input_step * weight.abs().sum(dim=1)
    assert found.shape == exact.shape
    assert ((found - exact).abs() <= bound + 1e-4).all()
    assert not torch.equal(found, exact)


def test_zero_rows_give_the_bias() -> None:
    layer = Int8Linear(torch.zeros(3, 4), torch.tensor([1.0, -2.0, 0.5]))
    assert torch.equal(layer(torch.ones(1, 4)), torch.tensor([[1.0, -2.0, 0.5]]))


@pytest.mark.parametrize("changes", [{}, {"output_bias": True, "suppressed_ids": (5,)}])
def test_a_whole_model_gives_nearly_the_same(changes: dict[str, object]) -> None:
    model, exact = (small_transformer(d_model=24, **changes) for _ in range(2))
    to_int8(model)
    source, target_in = padded(random_ids(2, 7), 5, 2), random_ids(2, 6, seed=1)
    with torch.inference_mode():
        found = model(source, target_in).log_softmax(-1)
        expected = exact(source, target_in).log_softmax(-1)
    possible = expected.isfinite()
    assert torch.equal(found.isfinite(), possible)
    error = (found - expected)[possible].abs().mean()
    assert 0 < error < 0.1 * expected[possible].std()


def test_every_linear_layer_is_in_8_bits() -> None:
    model = small_transformer(pruned_heads=("decoder_self.0.0",))
    to_int8(model)
    assert not any(isinstance(module, nn.Linear) for module in model.modules())
    config = model.config
    layers = 4 * config.encoder_layers + 7 * config.decoder_layers
    assert sum(isinstance(module, Int8Linear) for module in model.modules()) == layers + 1


def test_a_layer_without_heads_works() -> None:
    every = tuple(f"decoder_self.0.{head}" for head in range(3))
    model = small_transformer(pruned_heads=every)
    to_int8(model)
    with torch.inference_mode():
        assert model(random_ids(1, 4), random_ids(1, 3)).isfinite().all()


def test_gates_hold() -> None:
    model = small_transformer()
    to_int8(model)
    off = Gates.of(model.config, {Head(AttentionKind.CROSS, 1, 0): 0.0})
    source, target_in = random_ids(1, 5), random_ids(1, 4)
    with torch.inference_mode():
        before = model(source, target_in)
        with gated(model, off):
            assert not torch.allclose(model(source, target_in), before)
        assert torch.equal(model(source, target_in), before)


@pytest.mark.parametrize("beam", [1, 3])
def test_searches_run(beam: int) -> None:
    model = small_transformer()
    to_int8(model)
    found = search(model, [[5, 6, 7], [8]], SearchConfig(beam=beam, max_extra=6))
    assert [len(hypotheses) for hypotheses in found] == [1, 1]


def test_only_on_a_cpu() -> None:
    model = small_transformer().to("meta")
    with pytest.raises(UserError, match="CPU only"):
        to_int8(model)
