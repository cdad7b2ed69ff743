"""Path lengths found by impulses, against formulas and independent numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from core.lab.path_formula import path_formula
from core.lab.paths import influence, influence_by_distance, path_length, stack
from core.model.mixers.kinds import MIXERS, MixerShape, mixer_kind

SHAPE = MixerShape(d_model=8, heads=2, kernel=3, neighbours=5, blocks=2, rank=3, state=4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", MIXERS, ids=lambda kind: kind.name)
def test_the_formula_is_what_impulses_find(kind: object, causal: bool) -> None:
    one = mixer_kind(getattr(kind, "name", ""))
    if causal and one.both_directions:
        return
    for n in (2, 17):
        expected = path_formula(one.name, SHAPE, n, causal=causal)
        assert path_length(one, SHAPE, n, causal=causal) == expected


@pytest.mark.parametrize(
    ("name", "changes", "causal", "steps"),
    [
        ("convolution", {"kernel": 3}, False, 63),
        ("convolution", {"kernel": 5}, False, 32),
        ("convolution", {"kernel": 3}, True, 32),
        ("convs2s", {"kernel": 5}, True, 16),
        ("bytenet", {"kernel": 3}, False, 11),
        ("bytenet", {"kernel": 3}, True, 6),
        ("restricted", {"neighbours": 9}, False, 16),
        ("restricted", {"neighbours": 17}, False, 8),
        ("restricted", {"neighbours": 33}, False, 4),
        ("longformer", {"neighbours": 9}, False, 2),
        ("bigbird", {"blocks": 8}, False, 2),
        ("attention", {}, False, 1),
        ("lstm", {}, True, 63),
    ],
)
def test_64_positions(name: str, changes: dict[str, int], causal: bool, steps: int) -> None:
    """Numbers that were found independently by boolean products."""
    assert path_formula(name, replace(SHAPE, **changes), 64, causal=causal) == steps


@pytest.mark.parametrize(
    ("name", "causal", "steps"), [("bytenet", True, 6), ("convs2s", False, 63)]
)
def test_real_layers_connect_64_positions(name: str, causal: bool, steps: int) -> None:
    """Deep enough that gates of layers without a norm would saturate."""
    assert path_length(mixer_kind(name), SHAPE, 64, causal=causal) == steps


@pytest.mark.parametrize("name", ["convolution", "restricted"])
def test_a_neighbourhood_of_one_connects_nothing(name: str) -> None:
    alone = replace(SHAPE, kernel=1, neighbours=1)
    assert path_length(mixer_kind(name), alone, 5, causal=False) is None
    assert path_formula(name, alone, 5, causal=False) is None


def test_influence_is_the_gradient_of_each_output() -> None:
    """Output by output, through a stack of two layers."""
    layers = stack(mixer_kind("gru"), SHAPE, 2, causal=True)
    x = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    y = x[None]
    for mixer in layers:
        y = y + mixer(torch.nn.functional.layer_norm(y, (8,)))
    drawn = torch.Generator().manual_seed(0)
    mixed = y[0] @ torch.randn(8, generator=drawn, dtype=torch.float64)
    expected = [torch.autograd.grad(one, x, retain_graph=True)[0] for one in mixed]
    torch.testing.assert_close(influence(layers, x), torch.stack(expected))


@pytest.mark.parametrize("causal", [False, True])
def test_a_window_has_no_influence_beyond_it(causal: bool) -> None:
    found = influence_by_distance(mixer_kind("restricted"), SHAPE, 12, causal=causal)
    reach = 4 if causal else 2  # of 5 neighbours
    assert min(found[: reach + 1]) > 0
    assert set(found[reach + 1 :]) == {0.0}


def test_influence_by_distance_is_a_mean_over_pairs() -> None:
    kind = mixer_kind("lstm")
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    norms = influence(stack(kind, replace(SHAPE, longest=5), 1, causal=True), x).norm(dim=-1)
    found = influence_by_distance(kind, SHAPE, 5, causal=True)
    assert found[4] == pytest.approx(float(norms[4, 0]))
    assert found[3] == pytest.approx(float(norms[4, 1] + norms[3, 0]) / 2)
