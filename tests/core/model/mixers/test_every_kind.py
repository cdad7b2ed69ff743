"""What must hold of every kind of mixer."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from core.errors import UserError
from core.model.mixers.kinds import MIXERS, MixerKind, MixerShape, mixer_kind
from core.model.mixers.mixer import Mixer, selected
from core.model.mixers.recurrent import _Recurrent

SHAPE = MixerShape(
    d_model=8, heads=2, kernel=3, neighbours=5, blocks=4, rank=6, longest=80, state=4
)
CAUSAL = [kind for kind in MIXERS if not kind.both_directions]
EACH = [(kind, causal) for kind in MIXERS for causal in (False, True)[: 2 - kind.both_directions]]
N = 70  # more than one chunk of linear attention, and no multiple of any block


def named(case: object) -> str:
    return case.name if isinstance(case, MixerKind) else "causal" if case else "both"


def built(kind: MixerKind, *, causal: bool, layer: int = 1) -> Mixer:
    torch.manual_seed(4)
    return kind.build(SHAPE, causal=causal, layer=layer).double().eval()


def rows(batch: int = 2, n: int = N) -> Tensor:
    torch.manual_seed(5)
    return torch.randn(batch, n, SHAPE.d_model, dtype=torch.float64)


@pytest.mark.parametrize("kind", CAUSAL, ids=named)
def test_step_by_step_is_the_whole_row(kind: MixerKind) -> None:
    mixer, x = built(kind, causal=True), rows()
    with torch.no_grad():
        whole = mixer(x)
        state = mixer.start_state(2)
        for t in range(N):
            y, state = mixer.step(x[:, t], state)
            torch.testing.assert_close(y, whole[:, t], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", CAUSAL, ids=named)
def test_rows_go_on_from_another(kind: MixerKind) -> None:
    mixer, x = built(kind, causal=True), rows(n=9)
    order = torch.tensor([1, 1, 0])
    with torch.no_grad():
        state = mixer.start_state(2)
        for t in range(8):
            _y, state = mixer.step(x[:, t], state)
        y, _state = mixer.step(x[order, 8], selected(state, order))
        torch.testing.assert_close(y, mixer(x)[order, 8], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("kind", "causal"), EACH, ids=named)
def test_only_a_causal_kind_keeps_the_past_from_the_future(kind: MixerKind, causal: bool) -> None:
    mixer, x = built(kind, causal=causal), rows(1)
    changed = x.clone()
    changed[:, 40] *= -2  # a norm does not see what is added to all channels
    with torch.no_grad():
        difference = (mixer(changed) - mixer(x)).abs().amax((0, 2))
    assert difference[40] > 1e-6
    assert (float(difference[:40].max()) < 1e-12) == causal


@pytest.mark.parametrize(("kind", "causal"), EACH, ids=named)
def test_padding_has_no_effect(kind: MixerKind, causal: bool) -> None:
    mixer, x = built(kind, causal=causal), rows(2, 37)
    padded = torch.cat([x, 7 + rows(2, 6)], 1)
    real = torch.arange(43) < torch.tensor([[37], [30]])
    with torch.no_grad():
        found = mixer(padded, real)
        torch.testing.assert_close(found[0, :37], mixer(x)[0], rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(found[1, :30], mixer(x[1:, :30])[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("kind", "causal"), EACH, ids=named)
def test_every_weight_is_trained(kind: MixerKind, causal: bool) -> None:
    mixer = built(kind, causal=causal)
    mixer(rows()).square().sum().backward()
    for name, weight in mixer.named_parameters():
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name
        assert weight.grad.abs().max() > 0, name


@pytest.mark.parametrize("name", ["attention", "dot", "general", "linformer", "convs2s", "bytenet"])
def test_multiply_adds_are_what_torch_counts(name: str) -> None:
    """torch counts two operations each; products with zeros beside the row are among its own."""
    mixer, n = built(mixer_kind(name), causal=False), 24
    # the slow form of attention is the only one whose products are counted
    slow = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    with FlopCounterMode(display=False) as counter, torch.no_grad(), slow:
        mixer(rows(1, n))
    beside = {"convs2s": 2 * 8 * 16 - n * 8, "bytenet": 2 * 2 * 4 * 4}.get(name, 0)
    assert 2 * (mixer.multiply_adds(n) + beside) == counter.get_total_flops()


@pytest.mark.parametrize(
    ("name", "d", "causal", "n", "expected"),
    [
        ("attention", 8, False, 10, 4 * 10 * 64 + 2 * 100 * 8),
        ("attention", 8, True, 10, 4 * 10 * 64 + 2 * 55 * 8),
        ("lstm", 8, True, 10, 10 * (8 * 64 + 24)),
        ("gru", 8, True, 10, 10 * (6 * 64 + 24)),
        ("lstm", 8, False, 10, 2 * 10 * (8 * 64 + 24)),
        ("convolution", 8, False, 10, (3 * 10 - 2) * 64),
        ("linear", 8, False, 10, 4 * 10 * 64 + 2 * 10 * 8 * 5),
    ],
)
def test_multiply_adds_in_closed_form(
    name: str, d: int, causal: bool, n: int, expected: int
) -> None:
    shape = MixerShape(d_model=d, heads=2, kernel=3)
    assert mixer_kind(name).build(shape, causal=causal).multiply_adds(n) == expected


@pytest.mark.parametrize(("name", "of_state"), [("lstm", 4), ("gru", 3)])
def test_the_cell_is_torchs(name: str, of_state: int) -> None:
    mixer, x = built(mixer_kind(name), causal=True), rows(3, 1)
    assert isinstance(mixer, _Recurrent)
    assert mixer.network.weight_hh_l0.shape == (of_state * 8, 8)
    expected, _last = mixer.network(x)
    found, _state = mixer.step(x[:, 0], mixer.start_state(3))
    torch.testing.assert_close(found, expected[:, 0], rtol=1e-12, atol=1e-12)


def test_what_cannot_be_built_is_said() -> None:
    with pytest.raises(UserError, match="Linformer has no causal form"):
        mixer_kind("linformer").build(SHAPE, causal=True)
    with pytest.raises(UserError, match="no layer kind “tube”; choose one of attention, dot"):
        mixer_kind("tube")
    with pytest.raises(UserError, match="not divisible by 3 heads"):
        MixerShape(d_model=8, heads=3)
    with pytest.raises(UserError, match="kernel must be at least 1"):
        MixerShape(kernel=0)
    with pytest.raises(UserError, match="80 positions, not for 81"):
        built(mixer_kind("linformer"), causal=False)(rows(1, 81))
