"""Models with switched scaling or mask, beside formulas written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.model.switched import switched, switches_of
from core.model.transformer import Transformer
from core.switches import INTACT, Scaling, Switches
from tests.core.model.small import padded, random_ids, small_transformer
from tests.core.model.test_reference import reference_of

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
SWITCHES = [
    Switches(scaling=Scaling.OFF),
    Switches(scaling=Scaling.TWICE),
    Switches(mask=False),
    Switches(scaling=Scaling.OFF, mask=False),
]
DIVISORS: dict[Scaling, Any] = {
    Scaling.ON: lambda width: width**0.5,
    Scaling.OFF: lambda width: 1.0,
    Scaling.TWICE: float,
}
SOURCE, TARGET_IN = padded(random_ids(2, 7), 4, 2), padded(random_ids(2, 6, seed=1), 3, 1)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "d_k": 5, "d_v": 3}], ids=str)
def test_logits_are_those_of_the_formulas(switches: Switches, changes: dict[str, Any]) -> None:
    model = small_transformer(**changes).double()
    with torch.no_grad(), switched(model, switches):
        logits = model(SOURCE, TARGET_IN).numpy()
    for sentence, (s, t) in enumerate(((4, 3), (7, 6))):
        reference = reference_of(model)
        reference.divisor, reference.masked = DIVISORS[switches.scaling], switches.mask
        expected = reference.logits(SOURCE[sentence, :s].tolist(), TARGET_IN[sentence, :t].tolist())
        np.testing.assert_allclose(logits[sentence, :t], expected, rtol=0, atol=1e-10)


def test_a_model_without_a_mask_is_one_whose_mask_is_switched_off() -> None:
    model, without = small_transformer(), small_transformer(decoder_mask=False)
    with torch.no_grad(), switched(model, Switches(mask=False)):
        assert torch.equal(model(SOURCE, TARGET_IN), without(SOURCE, TARGET_IN))
    assert switches_of(without) == Switches(mask=False)
    with switched(without, INTACT):
        assert not without.masked


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("scaling", Scaling)
def test_switched_steps_give_the_logits_of_the_switched_pass(rows: int, scaling: Scaling) -> None:
    model, source = small_transformer(), padded(random_ids(3, 7), 4, 2)
    targets = random_ids(3 * rows, 6, seed=1)
    with torch.no_grad(), switched(model, Switches(scaling=scaling)):
        cache = model.start_cache(model.encode(source), source, rows_per_sentence=rows, capacity=6)
        steps = torch.stack([model.step(column, cache) for column in targets.T], dim=1)
        whole = model(source.repeat_interleave(rows, dim=0), targets)
    torch.testing.assert_close(steps, whole, **CLOSE)


@pytest.mark.parametrize("beam", [1, 3])
def test_the_mask_changes_no_search(beam: int) -> None:
    """A step sees what has been decoded, and nothing later is there to be seen."""
    model, config = small_transformer(), SearchConfig(beam=beam, max_extra=4)
    sources = [[5, 6, 7, 8], [9, 10]]
    masked = search(model, sources, config)
    with switched(model, Switches(mask=False)):
        assert search(model, sources, config) == masked


def test_outside_the_model_is_as_it_was_whatever_happens_inside() -> None:
    model = small_transformer()

    def logits(model: Transformer) -> torch.Tensor:
        with torch.no_grad():
            return model(SOURCE, TARGET_IN)

    plain = logits(model)
    with switched(model, SWITCHES[3]):
        assert not torch.allclose(logits(model), plain, atol=1e-3)
        assert switches_of(model) == SWITCHES[3]
        with switched(model, INTACT):  # the inner one holds alone
            assert torch.equal(logits(model), plain)
        with pytest.raises(ZeroDivisionError), switched(model, SWITCHES[1]):
            raise ZeroDivisionError
        assert switches_of(model) == SWITCHES[3]
    assert torch.equal(logits(model), plain)
    assert switches_of(model) == INTACT


def test_intact_switches_change_no_bit() -> None:
    model = small_transformer()
    with torch.no_grad():
        plain = model(SOURCE, TARGET_IN)
        with switched(model, INTACT):
            assert torch.equal(model(SOURCE, TARGET_IN), plain)
