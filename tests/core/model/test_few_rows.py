from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from core.model import few_rows
from core.model.few_rows import linear


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 8, 12, 13, 40])
@pytest.mark.parametrize("words", [128, 300, 1024])
@pytest.mark.parametrize("biased", [True, False])
def test_the_same_as_the_library(
    rows: int, words: int, biased: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few_rows, "_LARGE", 0)
    numbers = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, 16, generator=numbers)
    weight = torch.randn(words, 16, generator=numbers)
    bias = torch.randn(words, generator=numbers) if biased else None
    with torch.inference_mode():
        for given in (x, x.view(1, rows, 16)):
            found = linear(given, weight, bias)
            expected = F.linear(given, weight, bias)
            assert found.shape == expected.shape
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_gradients_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_rows, "_LARGE", 0)
    weight = torch.ones(256, 4, requires_grad=True)
    linear(torch.ones(4, 4), weight, None).sum().backward()
    assert weight.grad is not None
    assert torch.equal(weight.grad, torch.full((256, 4), 4.0))
