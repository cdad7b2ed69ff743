"""Importance against a forward pass in NumPy float64, one sentence and one head at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.analysis.importance import Importance, effects, importance, layer_normalised
from core.analysis.pruning import prune
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from tests.core.model.reference import Reference
from tests.core.model.small import small_transformer

PAIRS = [
    ([5, 6, 7, 8], [9, 10, 11]),
    ([12, 5], [6, 13, 14, 15, 16]),
    ([17, 18, 19, 20, 21, 5], [22]),
]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "d_k": 5, "d_v": 3, "decoder_heads": 4, "encoder_layers": 1, "bias": False},
]
BLOCKS = {
    AttentionKind.ENCODER_SELF: "encoder.{}.self_attention",
    AttentionKind.DECODER_SELF: "decoder.{}.self_attention",
    AttentionKind.CROSS: "decoder.{}.cross_attention",
}
STEP = 1e-5


def loss(
    model: Transformer, weights: dict[str, NDArray[np.float64]], pair: tuple[list[int], list[int]]
) -> float:
    config = model.config
    source, target = pair
    logits = Reference(config, weights).logits([*source, config.eos_id], [config.bos_id, *target])
    wanted = [*target, config.eos_id]
    peak = logits.max(axis=1, keepdims=True)
    normaliser = peak[:, 0] + np.log(np.exp(logits - peak).sum(axis=1))
    return float(np.mean(normaliser - logits[np.arange(len(wanted)), wanted]))


def by_finite_differences(model: Transformer) -> Importance:
    """Each head's output scaled by 1 ± a little: its columns of the output matrix are."""
    config = model.config
    weights = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    found = {}
    for kind, block in BLOCKS.items():
        encoder = kind is AttentionKind.ENCODER_SELF
        layers = config.encoder_layers if encoder else config.decoder_layers
        heads = config.encoder_heads if encoder else config.decoder_heads
        width = config.encoder_d_v if encoder else config.decoder_d_v
        found[kind] = np.zeros((layers, heads))
        for layer, head in np.ndindex(layers, heads):
            name = f"{block.format(layer)}.output.weight"
            for pair in PAIRS:
                sides = []
                for factor in (1 + STEP, 1 - STEP):
                    scaled = weights[name].copy()
                    scaled[:, head * width : (head + 1) * width] *= factor
                    sides.append(loss(model, {**weights, name: scaled}, pair))
                slope = (sides[0] - sides[1]) / (2 * STEP)
                found[kind][layer, head] += abs(slope) / len(PAIRS)
    return found


@pytest.mark.parametrize("batch_tokens", [1, 1000], ids=["one by one", "one batch"])
@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_importance_is_the_mean_absolute_slope_of_each_sentences_loss(
    changes: dict[str, Any], batch_tokens: int
) -> None:
    model = small_transformer(**changes).double()
    measured = importance(model, PAIRS, batch_tokens=batch_tokens)
    for kind, expected in by_finite_differences(model).items():
        assert (expected > 1e-4).all()
        np.testing.assert_allclose(measured[kind], expected, rtol=1e-5)


def test_in_single_precision_batches_change_nothing_but_rounding() -> None:
    model = small_transformer()
    together, alone = importance(model, PAIRS), importance(model, PAIRS, batch_tokens=1)
    for kind in AttentionKind:
        np.testing.assert_allclose(together[kind], alone[kind], rtol=1e-3)


def test_slopes_of_different_signs_do_not_cancel() -> None:
    model = small_transformer().double()
    both = importance(model, PAIRS)
    each = [importance(model, [pair]) for pair in PAIRS]
    for kind in AttentionKind:
        mean = np.mean([one[kind] for one in each], axis=0)
        np.testing.assert_allclose(both[kind], mean, rtol=1e-9)


def test_the_model_is_left_as_it_was() -> None:
    model = small_transformer()
    done: list[int] = []
    importance(model, PAIRS, batch_tokens=1, progress=done.append)
    assert done == [1, 2, 3]
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(
        block.gate is None for kind in AttentionKind for block in model.attention_blocks(kind)
    )
    assert not torch.is_inference_mode_enabled()


def test_a_layer_is_normalised_to_length_one() -> None:
    values = {AttentionKind.CROSS: np.array([[3.0, 4.0], [0.0, 2.0], [np.nan, 2.0]])}
    normalised = layer_normalised(values)[AttentionKind.CROSS]
    np.testing.assert_allclose(normalised, [[0.6, 0.8], [0.0, 1.0], [np.nan, 1.0]])


@pytest.mark.parametrize("batch_tokens", [1, 1000], ids=["one by one", "one batch"])
@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_an_effect_is_what_the_loss_gains_without_the_head(
    changes: dict[str, Any], batch_tokens: int
) -> None:
    model = small_transformer(**changes).double()
    weights = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    whole = np.mean([loss(model, weights, pair) for pair in PAIRS])
    done: list[int] = []
    measured = effects(model, PAIRS, batch_tokens=batch_tokens, progress=done.append)
    assert list(measured) == list(model.config.every_head())
    assert done[-1] == len(PAIRS) * len(measured)
    for head, effect in measured.items():
        name = f"{BLOCKS[head.kind].format(head.layer)}.output.weight"
        width = model.get_parameter(name).shape[1] // model.config.heads(head.kind)
        without = weights[name].copy()
        without[:, head.head * width : (head.head + 1) * width] = 0
        after = np.mean([loss(model, {**weights, name: without}, pair) for pair in PAIRS])
        assert abs(after - whole) > 1e-6
        assert effect == pytest.approx(after - whole, rel=1e-6)


def test_a_pruned_head_has_no_effect() -> None:
    pruned = prune(small_transformer(), [Head(AttentionKind.CROSS, 1, 1)])
    assert Head(AttentionKind.CROSS, 1, 1) not in effects(pruned, PAIRS)
