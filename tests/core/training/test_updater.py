from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from core.config import ModelConfig
from core.errors import UserError
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.training.batch import Batch, make_batch
from core.training.config import TrainingConfig
from core.training.pairs import EncodedPair, EncodedPairs
from core.training.updater import Updater

PAIRS = EncodedPairs.pack(
    [
        EncodedPair([5, 6, 3], [7, 3], [(0, 7)]),
        EncodedPair([8, 3], [9, 10, 11, 3]),
        EncodedPair([4, 4, 4, 3], [12, 13, 3], [(1, 12), (2, 13)]),
        EncodedPair([9, 5, 3], [6, 6, 6, 6, 6, 3], [(1, 6)]),
    ]
)
TRAINING = TrainingConfig(warmup=10, label_smoothing=0.1)


def model(dropout: float = 0.0) -> Transformer:
    config = ModelConfig(
        vocab_size=20,
        d_model=16,
        encoder_layers=2,
        decoder_layers=2,
        encoder_heads=2,
        decoder_heads=2,
        encoder_d_ff=32,
        decoder_d_ff=32,
        dropout=dropout,
    )
    result = Transformer(config)
    initialise(result, seed=1)
    return result.train()


def batch(of: Transformer, *indices: int) -> Batch:
    return make_batch(PAIRS, np.array(indices), of.config, torch.device("cpu"))


def weights(of: Transformer) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in of.named_parameters()}


@pytest.mark.parametrize("gloss_weight", [0.0, 0.5])
@pytest.mark.parametrize("clip_norm", [None, 0.1])
def test_accumulated_is_one_big_batch(gloss_weight: float, clip_norm: float | None) -> None:
    training = dataclasses.replace(TRAINING, gloss_weight=gloss_weight, clip_norm=clip_norm)
    whole, parts = model(), model()
    one = Updater(whole, training).apply([batch(whole, 0, 1, 2, 3)], 1)
    many = Updater(parts, training).apply([batch(parts, 0), batch(parts, 1, 2), batch(parts, 3)], 1)
    assert one.tokens == many.tokens == 15
    assert one.glosses == many.glosses == 4
    assert many.loss_sum == pytest.approx(one.loss_sum, rel=1e-5)
    assert many.gloss_sum == pytest.approx(one.gloss_sum, rel=1e-5)
    assert many.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-4)
    for name, gradient in ((n, p.grad) for n, p in whole.named_parameters()):
        other = dict(parts.named_parameters())[name].grad
        torch.testing.assert_close(gradient, other, rtol=1e-4, atol=1e-6)


def test_the_gradient_is_of_the_mean_over_all_tokens() -> None:
    trained, twin = model(), model()
    Updater(trained, dataclasses.replace(TRAINING, label_smoothing=0.0)).apply(
        [batch(trained, 0), batch(trained, 3)], 1
    )
    losses = []
    for index in (0, 3):
        pair = batch(twin, index)
        log_p = twin(pair.source, pair.target_in)[0].log_softmax(-1)
        losses += [-log_p[t, token] for t, token in enumerate(pair.target)]
    torch.autograd.backward(torch.stack(losses).mean())
    for ours, theirs in zip(trained.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)


def test_adam_by_hand_and_the_rate_of_the_first_update() -> None:
    trained = model()
    before = weights(trained)
    update = Updater(trained, TRAINING).apply([batch(trained, 0, 1)], 1)
    assert update.learning_rate == pytest.approx(16**-0.5 * 10**-1.5)
    for name, parameter in trained.named_parameters():
        # The first step of Adam is the rate times the gradient's sign, softened by ε.
        assert parameter.grad is not None
        step = update.learning_rate * parameter.grad / (parameter.grad.abs() + 1e-9)
        torch.testing.assert_close(parameter.detach(), before[name] - step, rtol=1e-4, atol=1e-6)


def test_clipping_shortens_to_the_norm_asked_for_and_reports_the_one_before() -> None:
    trained = model()
    update = Updater(trained, dataclasses.replace(TRAINING, clip_norm=0.01)).apply(
        [batch(trained, 0, 1)], 1
    )
    norm = torch.stack([p.grad.norm() for p in trained.parameters() if p.grad is not None]).norm()
    assert norm.item() == pytest.approx(0.01, rel=1e-3)
    assert update.gradient_norm > 0.01


def test_the_gloss_loss_reaches_the_encoder_and_never_the_decoder() -> None:
    trained = model()
    updater = Updater(trained, dataclasses.replace(TRAINING, gloss_weight=0.5))
    pair = batch(trained, 2)
    memory = trained.encode(pair.source)
    log_p = trained.logits(memory)[0].log_softmax(-1)
    gloss = updater.objective.gloss_loss(memory, pair)
    assert gloss.item() == pytest.approx(-(log_p[1, 12] + log_p[2, 13]).item(), rel=1e-5)
    torch.autograd.backward(gloss)
    assert all(p.grad is None for p in trained.decoder.parameters())
    assert all(p.grad is not None for p in trained.encoder.parameters())


def test_a_loss_that_is_no_number_stops_before_the_model_is_touched() -> None:
    trained = model()
    with torch.no_grad():
        trained.source_embedding.weight[5] = float("nan")
    before = weights(trained)
    with pytest.raises(UserError, match=r"no longer a number at update 7: decrease peak_factor"):
        Updater(trained, TRAINING).apply([batch(trained, 0)], 7)
    for name, weight in weights(trained).items():
        assert torch.equal(weight.nan_to_num(), before[name].nan_to_num())


def test_dropout_is_on() -> None:
    losses = {
        Updater(m := model(dropout=0.3), TRAINING).apply([batch(m, 0, 1)], 1).loss_sum
        for _ in range(3)
    }
    assert len(losses) == 3


def half_precision(scale: float) -> tuple[Transformer, Updater]:
    trained = model()
    updater = Updater(trained, dataclasses.replace(TRAINING, precision="fp16"))
    updater.scaler.load_state_dict(updater.scaler.state_dict() | {"scale": scale})
    return trained, updater


def test_the_scale_of_an_fp16_loss_leaves_the_update_as_it_is() -> None:
    exact = model()
    trained, updater = half_precision(1024.0)
    for each in (exact, trained):
        initialise(each, seed=2)  # with seed 1 rounding switches a unit of a ReLU
    expected = Updater(exact, TRAINING).apply([batch(exact, 0), batch(exact, 1, 2)], 1)
    update = updater.apply([batch(trained, 0), batch(trained, 1, 2)], 1)
    assert expected is not None
    assert update is not None
    assert update.loss_sum == pytest.approx(expected.loss_sum, rel=2e-3)
    assert update.gradient_norm == pytest.approx(expected.gradient_norm, rel=1e-2)
    for ours, theirs in zip(trained.parameters(), exact.parameters(), strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.01, atol=1e-3)


def test_an_fp16_gradient_that_is_too_large_is_skipped_and_the_scale_halved() -> None:
    trained, updater = half_precision(2.0**60)
    before = weights(trained)
    assert updater.apply([batch(trained, 0)], 1) is None
    assert updater.scaler.get_scale() == 2.0**59
    assert all(torch.equal(weight, before[name]) for name, weight in weights(trained).items())
    assert not updater.optimizer.state

    skipped = 1
    while updater.apply([batch(trained, 0)], 1) is None:
        skipped += 1
    assert updater.scaler.get_scale() == 2.0 ** (60 - skipped)
    assert {float(state["step"]) for state in updater.optimizer.state.values()} == {1.0}


def test_an_fp16_gradient_that_no_scale_helps_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, updater = half_precision(2.0)
    monkeypatch.setattr(updater, "_clip", lambda: float("inf"))
    updater.scaler.load_state_dict(updater.scaler.state_dict() | {"scale": 1.0})
    with pytest.raises(UserError, match="at update 3: use precision bf16, decrease peak_factor"):
        updater.apply([batch(trained, 0)], 3)


def test_in_fp64_everything_is() -> None:
    trained = model().double()
    update = Updater(trained, dataclasses.replace(TRAINING, precision="fp64")).apply(
        [batch(trained, 0, 1, 2, 3)], 1
    )
    assert update is not None
    assert update.memory.dtype == torch.float64
    parts = model().double()
    other = Updater(parts, dataclasses.replace(TRAINING, precision="fp64")).apply(
        [batch(parts, index) for index in range(4)], 1
    )
    assert other is not None
    assert other.loss_sum == pytest.approx(update.loss_sum, rel=1e-14)
    assert other.gradient_norm == pytest.approx(update.gradient_norm, rel=1e-13)


def test_a_compiled_model_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def traced(function: Callable[..., torch.Tensor], *, dynamic: bool) -> Callable[..., Any]:
        compiled.append(function.__name__)
        return compile(function, dynamic=dynamic, backend="eager")

    compile = torch.compile
    monkeypatch.setattr(torch, "compile", traced)
    plain, fast = model(), model()
    expected = Updater(plain, TRAINING).apply([batch(plain, 0, 1)], 1)
    update = Updater(fast, dataclasses.replace(TRAINING, compile=True)).apply(
        [batch(fast, 0, 1)], 1
    )
    assert compiled == ["encode", "decode"]
    assert update is not None
    assert expected is not None
    assert update.loss_sum == pytest.approx(expected.loss_sum, rel=1e-6)
    assert fast.state_dict().keys() == plain.state_dict().keys()
