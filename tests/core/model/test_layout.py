from __future__ import annotations

import torch
from torch import nn

from core.model.layout import column_major
from tests.core.model.small import random_ids, small_transformer


def test_values_and_outputs_stay_and_columns_lie_together() -> None:
    model, twin = small_transformer(), small_transformer()
    column_major(model)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    source, target_in = random_ids(2, 7), random_ids(2, 5, seed=1)
    torch.testing.assert_close(model(source, target_in), twin(source, target_in))
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    assert linears
    assert all(linear.weight.t().is_contiguous() for linear in linears)
