from __future__ import annotations

import pytest
import torch

from core.model.product import choose, store_as_chosen
from core.model.product_choice import forced
from core.model.transformer import Transformer
from core.model.uninitialised import uninitialised
from tests.core.model.small import random_ids, small_config, small_transformer


@pytest.mark.parametrize("kernel", ["columns", "torch"])
def test_it_has_the_parameters_and_the_layout_of_a_model_and_draws_no_number(kernel: str) -> None:
    choose(forced(kernel))
    config = small_config(shared_embeddings="inputs", positions="learned", output_bias=True)
    before = torch.get_rng_state()
    empty = uninitialised(config)
    assert torch.equal(torch.get_rng_state(), before)
    usual = Transformer(config)
    assert not torch.equal(torch.get_rng_state(), before)
    store_as_chosen(usual)
    theirs = {name: (one.shape, one.stride()) for name, one in usual.named_parameters()}
    assert {name: (one.shape, one.stride()) for name, one in empty.named_parameters()} == theirs
    assert all(one.requires_grad for one in empty.parameters())


def test_filled_it_is_the_model() -> None:
    model = small_transformer(norm="pre")
    filled = uninitialised(model.config).eval()
    filled.load_state_dict(model.state_dict())
    source, target_in = random_ids(2, 5), random_ids(2, 4)
    with torch.no_grad():
        store_as_chosen(model)
        assert torch.equal(filled(source, target_in), model(source, target_in))
