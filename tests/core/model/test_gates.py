from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.errors import UserError
from core.heads import EVEN, AttentionKind, Gate, Head, others_of_layer
from core.model.attention import CrossAttention, SelfAttention, attention_weights
from core.model.gates import Gates, gated, gates_of
from core.model.recording import Recording
from core.model.transformer import Transformer
from tests.core.model.small import padded, random_ids, small_config, small_transformer

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
HEADS = [
    Head(AttentionKind.ENCODER_SELF, 0, 2),
    Head(AttentionKind.DECODER_SELF, 1, 0),
    Head(AttentionKind.CROSS, 1, 1),
]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "d_k": 5, "d_v": 3, "decoder_heads": 4, "bias": False},
]
SOURCE, TARGET_IN = padded(random_ids(3, 7), 4, 2), random_ids(3, 6, seed=1)


@pytest.fixture(params=VARIANTS, ids=str)
def model(request: pytest.FixtureRequest) -> Iterator[Transformer]:
    with torch.no_grad():
        yield small_transformer(**request.param)


def without_rows(model: Transformer, *heads: Head) -> None:
    """Zero by hand the rows of W^O that the heads' outputs meet: columns of torch's weight."""
    for head in heads:
        stack = model.encoder if head.kind is AttentionKind.ENCODER_SELF else model.decoder
        layer = stack[head.layer]
        block = layer.cross_attention if head.kind is AttentionKind.CROSS else layer.self_attention
        width = block.d_v
        with torch.no_grad():
            block.output.weight[:, head.head * width : (head.head + 1) * width] = 0


MIXED: dict[Head, Gate] = {
    **dict(zip(HEADS, (0.0, 2.5, -0.5), strict=True)),
    **dict.fromkeys((head._replace(layer=1 - head.layer) for head in HEADS), EVEN),
}


def mixed(model: Transformer) -> Gates:
    return Gates.of(model.config, MIXED)


def test_open_gates_change_no_bit(model: Transformer) -> None:
    plain = model(SOURCE, TARGET_IN)
    with gated(model, Gates.open(model.config)):
        assert torch.equal(model(SOURCE, TARGET_IN), plain)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.code)
def test_a_closed_gate_is_a_head_without_its_rows_of_the_output_projection(
    model: Transformer, head: Head
) -> None:
    plain = model(SOURCE, TARGET_IN)
    with gated(model, Gates.of(model.config, {head: 0.0})):
        closed = model(SOURCE, TARGET_IN)
    assert not torch.allclose(closed, plain, atol=1e-3)
    without_rows(model, head)
    torch.testing.assert_close(closed, model(SOURCE, TARGET_IN), **CLOSE)


def test_a_factor_scales_the_rows_of_the_output_projection(model: Transformer) -> None:
    head = HEADS[2]
    with gated(model, Gates.of(model.config, {head: 0.25})):
        scaled = model(SOURCE, TARGET_IN)
    block = model.attention_blocks(head.kind)[head.layer]
    block.output.weight[:, block.d_v : 2 * block.d_v] *= 0.25
    torch.testing.assert_close(scaled, model(SOURCE, TARGET_IN), **CLOSE)


def test_a_head_alone_is_its_layer_without_the_others(model: Transformer) -> None:
    head = HEADS[0]
    others = others_of_layer(head, range(model.config.heads(head.kind)))
    assert [other.head for other in others] == [0, 1]
    with gated(model, Gates.of(model.config, dict.fromkeys(others, 0.0))):
        alone = model(SOURCE, TARGET_IN)
    without_rows(model, *others)
    torch.testing.assert_close(alone, model(SOURCE, TARGET_IN), **CLOSE)


def test_the_gates_of_a_model_are_told_inside_alone(model: Transformer) -> None:
    with gated(model, Gates.of(model.config, MIXED | {HEADS[0]._replace(head=0): 1.0})):
        assert gates_of(model) == MIXED
    assert gates_of(model) == {}


def test_outside_the_model_is_as_it_was_whatever_happens_inside(model: Transformer) -> None:
    plain = model(SOURCE, TARGET_IN)
    with pytest.raises(ZeroDivisionError), gated(model, mixed(model)):
        raise ZeroDivisionError
    assert torch.equal(model(SOURCE, TARGET_IN), plain)


def test_of_nested_gates_the_inner_ones_hold_and_the_outer_ones_come_back(
    model: Transformer,
) -> None:
    plain = model(SOURCE, TARGET_IN)
    with gated(model, mixed(model)):
        outer = model(SOURCE, TARGET_IN)
        with gated(model, Gates.open(model.config)):
            assert torch.equal(model(SOURCE, TARGET_IN), plain)
        assert torch.equal(model(SOURCE, TARGET_IN), outer)


def test_recording_changes_no_gated_output(model: Transformer) -> None:
    with gated(model, mixed(model)):
        recording = Recording()
        hidden = model.decode(TARGET_IN, model.encode(SOURCE, recording), SOURCE, recording)
        assert torch.equal(model.logits(hidden), model(SOURCE, TARGET_IN))


@pytest.mark.parametrize("rows", [1, 2])
def test_gated_steps_give_the_logits_of_the_gated_pass(model: Transformer, rows: int) -> None:
    targets = random_ids(3 * rows, 6, seed=1)
    with gated(model, mixed(model)):
        cache = model.start_cache(model.encode(SOURCE), SOURCE, rows_per_sentence=rows, capacity=6)
        steps = torch.stack([model.step(column, cache) for column in targets.T], dim=1)
        whole = model(SOURCE.repeat_interleave(rows, dim=0), targets)
    torch.testing.assert_close(steps, whole, **CLOSE)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_search_with_closed_gates_finds_what_it_finds_without_those_rows(
    model: Transformer, beam: int
) -> None:
    sources = [[5, 6, 7, 8], [9, 10], [11, 12, 13]]
    config = SearchConfig(beam=beam, max_extra=4)
    with gated(model, Gates.of(model.config, dict.fromkeys(HEADS, 0.0))):
        closed = search(model, sources, config)
    for found, unlike in zip(closed, search(model, sources, config), strict=True):
        assert found[0].log_probability != pytest.approx(unlike[0].log_probability, abs=1e-2)
    without_rows(model, *HEADS)
    for found, expected in zip(closed, search(model, sources, config), strict=True):
        assert found[0].ids == expected[0].ids
        assert found[0].log_probability == pytest.approx(expected[0].log_probability, abs=1e-4)


def test_an_even_head_passes_on_the_mean_of_the_values_that_it_may_see() -> None:
    model = small_transformer()
    block = model.attention_blocks(AttentionKind.DECODER_SELF)[1]
    assert isinstance(block, SelfAttention)
    x = torch.randn(2, 5, model.config.d_model, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        query, key, value = block.query_key_value(x).split(block.widths, dim=-1)
        query, key, value = (one.view(2, 5, 3, -1).transpose(1, 2) for one in (query, key, value))
        causal = torch.ones(5, 5, dtype=torch.bool).tril()
        expected = attention_weights(query, key, causal) @ value
        counts = torch.arange(1, 6)[:, None]
        expected[:, 2] = value[:, 2].cumsum(dim=1) / counts  # the mean of positions 0 to i
        expected = block.output(expected.transpose(1, 2).flatten(2))
        with gated(model, Gates.of(model.config, {Head(AttentionKind.DECODER_SELF, 1, 2): EVEN})):
            torch.testing.assert_close(block(x, causal=True), expected, **CLOSE)


@pytest.mark.parametrize("kind", AttentionKind)
def test_an_even_head_is_a_head_without_queries(model: Transformer, kind: AttentionKind) -> None:
    head = Head(kind, 0, 1)
    block = model.attention_blocks(head.kind)[head.layer]
    matrix = block.query if isinstance(block, CrossAttention) else block.query_key_value
    rows = slice(head.head * block.d_k, (head.head + 1) * block.d_k)
    matrix.weight[rows] *= 30  # far from even
    plain = model(SOURCE, TARGET_IN)
    with gated(model, Gates.of(model.config, {head: EVEN})):
        even = model(SOURCE, TARGET_IN)
    assert (even - plain).abs().max() > 1e-4
    matrix.weight[rows] = 0
    if matrix.bias is not None:
        matrix.bias[rows] = 0
    torch.testing.assert_close(even, model(SOURCE, TARGET_IN), **CLOSE)


def test_the_recorded_weights_of_an_even_head_are_equal_and_never_on_padding(
    model: Transformer,
) -> None:
    every = dict.fromkeys(model.config.every_head(), EVEN)
    recording = Recording()
    with gated(model, Gates.of(model.config, every)):
        model.decode(TARGET_IN, model.encode(SOURCE, recording), SOURCE, recording)
    real = SOURCE.ne(model.config.pad_id)  # [B, S]
    for one in (*recording.encoder_self, *recording.cross):
        weights = attention_weights(one.query, one.key, real[:, None, None])
        expected = real / real.sum(dim=1, keepdim=True)
        torch.testing.assert_close(weights, expected[:, None, None].expand_as(weights))


def test_each_example_has_its_own_gates(model: Transformer) -> None:
    settings: list[dict[Head, Gate]] = [{HEADS[0]: 0.5}, {HEADS[1]: EVEN}, {HEADS[2]: EVEN}]
    with gated(model, Gates.stacked([Gates.of(model.config, one) for one in settings])):
        together = model(SOURCE, TARGET_IN)
    for row, setting in enumerate(settings):
        with gated(model, Gates.of(model.config, setting)):
            alone = model(SOURCE[row : row + 1], TARGET_IN[row : row + 1])
        torch.testing.assert_close(together[row], alone[0], **CLOSE)


def test_each_example_has_its_own_factors(model: Transformer) -> None:
    gates = Gates.open(model.config, batch=3)
    for row, head in enumerate(HEADS):
        gates.factors[head.kind][row, head.layer, head.head] = 0.0
    with gated(model, gates):
        together = model(SOURCE, TARGET_IN)
    for row, head in enumerate(HEADS):
        with gated(model, Gates.of(model.config, {head: 0.0})):
            alone = model(SOURCE[row : row + 1], TARGET_IN[row : row + 1])
        torch.testing.assert_close(together[row], alone[0], **CLOSE)


def test_gates_take_gradients() -> None:
    model = small_transformer()
    gates = Gates.open(model.config).requires_grad()
    with gated(model, gates):
        model(SOURCE, TARGET_IN).square().sum().backward()
    for factors in gates.factors.values():
        gradient: Tensor | None = factors.grad
        assert gradient is not None
        assert (gradient != 0).all()


@pytest.mark.parametrize(
    ("head", "factor", "says"),
    [
        (Head(AttentionKind.ENCODER_SELF, 2, 0), 0.0, "LAYER is 1 to 2 and HEAD 1 to 3"),
        (Head(AttentionKind.CROSS, 0, 3), 0.0, "no head cross:1.4"),
        (Head(AttentionKind.CROSS, 0, -1), 0.0, "no head cross:1.0"),
        (Head(AttentionKind.CROSS, 0, 0), float("nan"), "finite"),
    ],
    ids=str,
)
def test_impossible_gates_are_refused(head: Head, factor: float, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Gates.of(small_config(), {head: factor})
