from __future__ import annotations

import pytest
import torch

from core.errors import UserError
from core.lab import measuring
from core.lab.measuring import lengths_up_to, measured, peak_bytes
from core.lab.report import LayerCost, LayersReport, LengthCost, slope
from core.model.mixers.kinds import MixerShape, mixer_kind

SHAPE = MixerShape(d_model=8, heads=2)


def last_of(name: str, lengths: list[int], *, causal: bool) -> LayerCost:
    kind = mixer_kind(name)
    *_before, last = measured(kind, SHAPE, lengths, causal=causal, path_positions=4)
    return last


def test_the_most_bytes_alive_at_a_time() -> None:
    x = torch.zeros(1000)

    def run() -> None:
        y = x + 1  # 4 kB
        z = y * 2  # 8 kB
        del y
        z.add_(1)
        z.view(10, 100)[0] + z[:100]  # 8 kB + 0.4 kB, freed first

    assert peak_bytes(run) == 8000
    assert peak_bytes(lambda: x.view(10, 100)) == 0


def test_additive_attention_holds_its_hidden_layer() -> None:
    """n² d numbers of 4 bytes, which dot products do without."""
    x = torch.zeros(1, 64, 8)
    additive, dot = (mixer_kind(name).build(SHAPE, causal=False) for name in ("additive", "dot"))
    with torch.no_grad():
        difference = peak_bytes(lambda: additive(x)) - peak_bytes(lambda: dot(x))
    assert difference >= 4 * 64 * 64 * 8


def test_what_is_measured() -> None:
    found = last_of("gru", [16, 32], causal=True)
    assert [cost.n for cost in found.costs] == [16, 32]
    assert found.path == found.path_formula == 3
    assert found.parameters == 2 * 24 * 8 + 2 * 24
    for cost in found.costs:
        assert min(cost.forward_seconds, cost.training_seconds) > 0
        assert cost.training_bytes > 0
        assert cost.step_seconds is not None
        assert cost.sequential == cost.n
    assert last_of("gru", [16, 32], causal=False).costs[0].step_seconds is None


def test_what_would_need_too_much_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_BYTES", 1 << 10)
    found = last_of("attention", [16, 32], causal=False)
    assert [cost.n for cost in found.costs] == [16]
    assert found.left_out.startswith("32 positions and more were left out: a training step")


def test_a_slope_is_the_power() -> None:
    assert slope([(n, 7 * n**2) for n in (16, 32, 64)]) == pytest.approx(2)
    assert slope([(16, 1.0)]) is None


def test_a_report_survives_its_file() -> None:
    cost = LengthCost(16, 1000, 1, 1e-3, 2e-3, 100, 200)
    layer = LayerCost("lstm", "LSTM", 10, "nd²", "n", 63, None, (cost,), "too long")
    report = LayersReport(SHAPE, False, 2, "a processor", 64, (layer,))
    assert LayersReport.from_json(report.to_json()) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"layers": [1]}', '{"layers": []}'])
def test_no_report(text: str) -> None:
    with pytest.raises(ValueError, match="no report about layers"):
        LayersReport.from_json(text)


def test_lengths() -> None:
    assert lengths_up_to(100) == [16, 32, 64]
    with pytest.raises(UserError, match="--longest 31 is too short"):
        lengths_up_to(31)
