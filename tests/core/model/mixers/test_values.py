"""Mixers against dense maps, plain loops and numbers that were computed independently."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from core.model.attention import attention_weights
from core.model.mixers.attention import Attention
from core.model.mixers.convolution import DilatedConvolution, GatedConvolution
from core.model.mixers.kinds import MixerShape
from core.model.mixers.linear import LinearAttention, causal_sums, feature
from core.model.mixers.mamba import SelectiveStateSpace, selective_scan
from core.model.mixers.mixer import projected
from core.model.mixers.recurrent import gru_cell, lstm_cell
from core.model.mixers.sparse import BigBird, Longformer, Restricted, attend_band, band_pairs
from core.model.mixers.state_space import DiagonalStateSpace

SHAPE = MixerShape(d_model=8, heads=2, neighbours=5, blocks=4, globals=2)
ALL = slice(None)


def fixture(shape: tuple[int, ...], k: int) -> Tensor:
    """½ sin(k + j), j = 0, 1, … row by row."""
    count = int(np.prod(shape))
    return (0.5 * torch.sin(k + torch.arange(count, dtype=torch.float64))).view(shape)


def close(found: Tensor, *expected: float) -> None:
    numbers = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(found.detach().flatten(), numbers, rtol=0, atol=1.01e-6)


def rows(n: int) -> Tensor:
    torch.manual_seed(1)
    return torch.randn(2, n, 8, dtype=torch.float64)


def test_compatibility_functions() -> None:
    shape = MixerShape(d_model=4, heads=1)
    q, k = fixture((1, 1, 1, 4), 0), fixture((1, 1, 3, 4), 1)
    one = torch.eye(3, dtype=torch.float64)[None, None]  # as values, so that weights come out
    for name, expected in (
        ("dot", (0.399361, 0.371918, 0.228721)),
        ("scaled_dot", (0.367403, 0.354554, 0.278043)),
        ("general", (0.361207, 0.332823, 0.30597)),
        ("additive", (0.320707, 0.36164, 0.317654)),
    ):
        mixer = Attention(shape, causal=False, compatibility=name).double()
        with torch.no_grad():
            if name in ("general", "additive"):
                mixer.query_weight[0] = fixture((4, 4), 3).T
            if name == "additive":
                mixer.key_weight[0] = fixture((4, 4), 4).T
                mixer.score_weight[0] = fixture((4,), 5)
        close(mixer._attend(q, k, one, None, causal=False), *expected)


def test_cells() -> None:
    x, h, c = fixture((3,), 4), fixture((2,), 5), fixture((2,), 6)
    for gates in (4, 3):
        of_input = fixture((2 * gates, 3), 0) @ x + fixture((2 * gates,), 2)
        of_state = fixture((2 * gates, 2), 1) @ h + fixture((2 * gates,), 3)
        if gates == 4:
            new_h, new_c = lstm_cell(of_input + of_state, c)
            close(new_h, -0.00906, 0.195601)
            close(new_c, -0.014168, 0.496445)
        else:
            close(gru_cell(of_input, of_state, h), -0.201581, 0.367534)


def test_a_window() -> None:
    q, k, v = (fixture((1, 1, 6, 2), number) for number in range(3))
    real = torch.ones(1, 6, dtype=torch.bool)
    near = attend_band(q, k, v, 1, 1, real)[0, 0, [0, 3]]
    close(near, 0.089476, -0.170546, 0.048059, 0.032202)
    first = (k[:, :, :1], v[:, :, :1], 1)
    near = attend_band(q, k, v, 1, 1, real, first)[0, 0, [3]]
    close(near, 0.154123, 0.042208)
    close(attend_band(q, k, v, 1, 0, real)[0, 0, [0, 3]], 0.454649, 0.07056, 0.188193, 0.26521)


def test_linear_attention() -> None:
    q, k, v = (fixture((1, 1, 6, 2), number) for number in range(3))
    q, k = feature(q), feature(k)
    ones = torch.ones(1, 1, 6, 1, dtype=torch.float64)
    found = (causal_sums(q, k, v) / causal_sums(q, k, ones))[0, 0, [0, 3]]
    close(found, 0.454649, 0.07056, 0.209361, 0.055311)
    close((k[:, :, :4].transpose(-1, -2) @ v[:, :, :4]), 0.811517, 0.064078, 1.020061, 0.367884)


def test_the_feature_map_does_not_vanish() -> None:
    assert feature(torch.tensor(-30.0)) > 0
    x = torch.linspace(-4, 4, 9)
    torch.testing.assert_close(feature(x), torch.nn.functional.elu(x) + 1)


@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_is_its_full_map(causal: bool) -> None:
    mixer, x = LinearAttention(SHAPE, causal=causal).double(), rows(70)
    query, key, value = projected(mixer.block, x)
    weights = feature(query) @ feature(key).transpose(-1, -2)
    weights = weights.tril() if causal else weights
    weights = weights / weights.sum(-1, keepdim=True)
    torch.testing.assert_close(mixer(x), mixer.block.merge(weights @ value))


def test_s4d_kernel_and_row() -> None:
    space = DiagonalStateSpace(1, 2).double()
    with torch.no_grad():
        space.log_step.fill_(np.log(0.1))
        space.read.copy_(torch.tensor([1.0, 0.0]))
        space.skip.zero_()
    # The frequencies are π in single precision.
    close(space.kernel(5), 0.387011, 0.350341, 0.300985, 0.24402, 0.184809)
    close(space.convolved(fixture((1, 5, 1), 1)), 0.162829, 0.323355, 0.313225, 0.117785, -0.10819)


def test_s4d_in_single_precision() -> None:
    torch.manual_seed(2)
    space = DiagonalStateSpace(8, 4).eval()
    x = torch.randn(1, 200, 8)
    state, parts = space.start_state(1), []
    with torch.no_grad():
        for t in range(200):
            y, state = space.step(x[:, t], state)
            parts.append(y)
        torch.testing.assert_close(torch.stack(parts, 1), space(x), rtol=1e-4, atol=1e-4)


def test_selective_scan() -> None:
    u, b, c = fixture((1, 4, 2), 0), fixture((1, 4, 2), 2), fixture((1, 4, 2), 3)
    delta = torch.nn.functional.softplus(fixture((1, 4, 2), 1))
    a = torch.tensor([-1.0, -2.0], dtype=torch.float64).repeat(2, 1)
    expected = (0, 0.422877, 0.536988, 0.026826, -0.455099, -0.49912, -0.14403, 0.354232)
    close(selective_scan(u, delta, a, b, c) + u, *expected)


def test_a_mamba_block() -> None:
    mixer = SelectiveStateSpace(2, 2).double()
    with torch.no_grad():
        for weight, value in (
            (mixer.input.weight, fixture((8, 2), 1)),
            (mixer.convolution.weight, fixture((4, 1, 4), 2)),
            (mixer.convolution.bias, fixture((4,), 3)),
            (mixer.select.weight, fixture((5, 4), 4)),
            (mixer.step_size.weight, fixture((4, 1), 5)),
            (mixer.step_size.bias, fixture((4,), 6)),
            (mixer.output.weight, fixture((2, 4), 7)),
        ):
            assert weight is not None
            weight.copy_(value)
        mixer.log_decay.copy_(torch.log(torch.tensor([1.0, 2.0], dtype=torch.float64)))
    expected = (-0.000779, -0.005671, 0.008451, -0.011235, -0.009609, 0.010117)
    close(mixer(fixture((1, 3, 2), 0)), *expected)


def test_a_scan_and_its_gradient_are_a_plain_loops() -> None:
    """Longer than two chunks, and no multiple of one."""
    torch.manual_seed(3)
    n, shapes = 37, {"u": (2, 37, 3), "delta": (2, 37, 3), "a": (3, 4), "b": (2, 37, 4)}
    given = [torch.rand(shape, dtype=torch.float64) for shape in (*shapes.values(), (2, n, 4))]
    u, delta, a, b, c = (one.requires_grad_() for one in given)
    h, found = torch.zeros(2, 3, 4, dtype=torch.float64), []
    for t in range(n):
        decay = torch.exp(-delta[:, t, :, None] * a)
        h = decay * h + (delta[:, t] * u[:, t])[..., None] * b[:, t, None]
        found.append((h * c[:, t, None]).sum(-1))
    loop, scanned = torch.stack(found, 1), selective_scan(u, delta, -a, b, c)
    torch.testing.assert_close(scanned, loop)
    wanted = torch.randn(2, n, 3, dtype=torch.float64)
    expected = torch.autograd.grad((loop * wanted).sum(), (u, delta, a, b, c))
    torch.testing.assert_close(
        torch.autograd.grad((scanned * wanted).sum(), (u, delta, a, b, c)), expected
    )


def dense(mixer: Restricted | BigBird, x: Tensor, allowed: Tensor) -> Tensor:
    query, key, value = projected(mixer.block, x)
    return mixer.block.merge(attention_weights(query, key, allowed) @ value)


@pytest.mark.parametrize("n", [1, 3, 16, 37])
@pytest.mark.parametrize("causal", [False, True])
def test_restricted_attention_is_a_masked_map(n: int, causal: bool) -> None:
    mixer, x = Restricted(SHAPE, causal=causal).double(), rows(n)
    offset = torch.arange(n) - torch.arange(n)[:, None]
    allowed = (offset > -5) & (offset <= 0) if causal else offset.abs() <= 2
    torch.testing.assert_close(mixer(x), dense(mixer, x, allowed))
    assert mixer.multiply_adds(n) == 4 * n * 64 + 16 * int(allowed.sum())


@pytest.mark.parametrize("neighbours", [1, 4])
def test_an_even_neighbourhood_is_as_wide_as_it_says(neighbours: int) -> None:
    shape = MixerShape(d_model=8, heads=2, neighbours=neighbours)
    mixer, n = Restricted(shape, causal=False), 20
    assert mixer.before + mixer.after + 1 == neighbours
    offset = torch.arange(n) - torch.arange(n)[:, None]
    pairs = int(((offset >= -mixer.before) & (offset <= mixer.after)).sum())
    assert band_pairs(n, mixer.before, mixer.after) == pairs


@pytest.mark.parametrize("n", [1, 2, 37])
def test_longformer_is_a_masked_map_with_other_projections_for_some(n: int) -> None:
    mixer, x = Longformer(SHAPE, causal=False).double(), rows(n)
    place = torch.arange(n)
    allowed = ((place - place[:, None]).abs() <= 2) | (place < 2)
    query, key, value = projected(mixer.block, x)
    heads = attention_weights(query, key, allowed) @ value
    query, key, value = mixer.far_projected(x)
    heads[:, :, :2] = (attention_weights(query, key) @ value)[:, :, :2]
    torch.testing.assert_close(mixer(x), mixer.block.merge(heads))


@pytest.mark.parametrize("n", [1, 9, 37, 64])
def test_bigbird_is_a_masked_map(n: int) -> None:
    mixer, x = BigBird(SHAPE, causal=False, layer=3).double(), rows(n)
    block, m = torch.arange(n) // 4, -(-n // 4)
    allowed = ((block - block[:, None]).abs() <= 1) | (block < 2) | (block < 2)[:, None]
    for at, row in enumerate(mixer.table(m).tolist()):
        assert len({one for one in row if one >= 0}) == sum(one >= 0 for one in row)
        if row[-1] >= 0:
            allowed |= (block == at)[:, None] & (block == row[-1])
    torch.testing.assert_close(mixer(x), dense(mixer, x, allowed))
    assert mixer.multiply_adds(n) == 4 * n * 64 + 16 * int(allowed.sum())
    assert torch.equal(mixer.table(m), BigBird(SHAPE, causal=False, layer=3).table(m))


def test_a_gated_convolution() -> None:
    mixer = GatedConvolution(MixerShape(d_model=2, heads=1), causal=True).double()
    with torch.no_grad():
        mixer.convolution.weight.copy_(fixture((4, 2, 3), 1))
        assert mixer.convolution.bias is not None
        mixer.convolution.bias.copy_(fixture((4,), 2))
    x = fixture((1, 4, 2), 0)
    found = (mixer(x) + x) * 0.5**0.5
    expected = (0.103299, 0.287376, 0.396807, 0.032519, -0.104846, -0.278051, 0.07555, 0.265941)
    close(found, *expected)


@pytest.mark.parametrize("causal", [False, True])
def test_a_dilated_convolution_reads_these_positions_only(causal: bool) -> None:
    """Layer 2 has dilation 4."""
    torch.manual_seed(0)
    mixer = DilatedConvolution(MixerShape(d_model=16), causal=causal, layer=2).double()
    x = torch.randn(1, 30, 16, dtype=torch.float64, requires_grad=True)
    mixer(x)[0, 15].square().sum().backward()
    assert x.grad is not None
    read = x.grad[0].abs().sum(-1).nonzero().flatten().tolist()
    assert read == ([7, 11, 15] if causal else [11, 15, 19])
