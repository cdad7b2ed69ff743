"""The steps of a row against the real model: its weights in float64, and its unrecorded pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from core.decoding.config import SearchConfig
from core.decoding.search import source_batch
from core.errors import UserError
from core.model.attention import CrossAttention
from core.text.sentence_pieces import train_tokenizer
from core.trace.record import trace_text
from core.trace.row_steps import RowSteps, attend_row, row_steps
from core.trace.trace import AttentionKind, Head, StoredAttention, Trace
from tests.core.model.small import small_transformer

TOKENIZER = train_tokenizer(["the animal was too tired", "das Tier war zu müde"], 40)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"encoder_layers": 1, "decoder_layers": 3, "encoder_heads": 2, "decoder_heads": 4},
    {"d_k": 64, "d_v": 3},
]
SIGNED = st.floats(-8, 8)


def double(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


class Pass:
    """A model, a trace of it, and what its attention blocks take in and give out in a second,
    unrecorded pass over the same tokens."""

    def __init__(self, changes: dict[str, Any]) -> None:
        self.model = small_transformer(vocab_size=TOKENIZER.vocab_size, **changes)
        for parameter in self.model.parameters():
            parameter.data *= 0.5  # scores of a few units, as in a trained head
        text = "the animal was too tired"
        self.trace = trace_text(self.model, TOKENIZER, text, search=SearchConfig(max_extra=2))
        self.seen: dict[nn.Module, tuple[tuple[Any, ...], torch.Tensor]] = {}
        for block in self.blocks():
            block.register_forward_hook(self._keep)
        with torch.no_grad():
            source = source_batch(self.model, [[t.id for t in self.trace.source_tokens[:-1]]])
            target = torch.tensor([[t.id for t in self.trace.target_tokens]])
            self.model.decode(target, self.model.encode(source), source)

    def block(self, kind: AttentionKind, layer: int) -> Any:
        if kind is AttentionKind.CROSS:
            return self.model.decoder[layer].cross_attention
        side = self.model.encoder if kind is AttentionKind.ENCODER_SELF else self.model.decoder
        return side[layer].self_attention

    def blocks(self) -> list[nn.Module]:
        return [self.block(k, n) for k in AttentionKind for n in range(self.trace.layers(k))]

    def _keep(self, block: nn.Module, given: tuple[Any, ...], output: torch.Tensor) -> None:
        self.seen[block] = given, output

    def projections(self, kind: AttentionKind, layer: int) -> list[np.ndarray]:
        """q, k, v [H, n, d] in float64, from the block's input and the model's weights."""
        block = self.block(kind, layer)
        given, _ = self.seen[block]

        def project(linear: nn.Linear, x: torch.Tensor) -> np.ndarray:
            return double(x[0]) @ double(linear.weight).T + double(linear.bias)

        if isinstance(block, CrossAttention):
            parts = [project(block.query, given[0])]
            joined, widths = project(block.key_value, given[1]), block.widths
        else:
            parts, joined = [], project(block.query_key_value, given[0])
            widths = block.widths
        parts += np.split(joined, np.cumsum(widths)[:-1], axis=1)
        return [p.reshape(len(p), len(block.heads), -1).swapaxes(0, 1) for p in parts]


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def one(request: pytest.FixtureRequest) -> Pass:
    return Pass(request.param)


def all_heads(trace: Trace) -> list[Head]:
    return [
        Head(kind, layer, head)
        for kind in AttentionKind
        for layer in range(trace.layers(kind))
        for head in trace.heads(kind, layer)
    ]


def test_every_number_is_the_one_that_the_models_weights_give(one: Pass) -> None:
    for head in all_heads(one.trace):
        q, k, v = (part[head.head] for part in one.projections(head.kind, head.layer))
        for query in range(len(q)):
            steps = row_steps(one.trace, head, query)
            seen = query + 1 if head.kind is AttentionKind.DECODER_SELF else len(k)
            products = q[query] * k
            scores = products.sum(axis=1) / np.sqrt(q.shape[1])
            exponentials = np.exp(scores[:seen] - scores[:seen].max())
            weights = np.pad(exponentials / exponentials.sum(), (0, len(k) - seen))
            found = (steps.query, steps.keys, steps.values, steps.products)
            expected = (q[query], k, v, products)
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
            root = np.sqrt(q.shape[1])
            np.testing.assert_allclose(steps.sums / root, scores, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(steps.scores, scores, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(steps.exponentials[:seen], exponentials, atol=1e-6)
            np.testing.assert_allclose(steps.weights, weights, atol=1e-6)
            np.testing.assert_allclose(steps.output, weights @ v, rtol=1e-6, atol=1e-6)


def test_the_weights_are_those_of_the_map(one: Pass) -> None:
    for head in all_heads(one.trace):
        for query in range(len(one.trace.query_tokens(head.kind))):
            steps, row = row_steps(one.trace, head, query), one.trace.row(*head, query)
            np.testing.assert_allclose(steps.weights, row, atol=1e-6)
            assert ((steps.weights == 0) == ~one.trace.allowed(head.kind)[query]).all()
            assert steps.weights.sum() == pytest.approx(1, abs=1e-12)


def test_the_output_is_that_of_the_fused_kernel(one: Pass) -> None:
    for kind in AttentionKind:
        for layer in range(one.trace.layers(kind)):
            parts = one.projections(kind, layer)
            q, k, v = (torch.from_numpy(part).float()[None] for part in parts)
            causal = kind is AttentionKind.DECODER_SELF
            fused = F.scaled_dot_product_attention(q, k, v, is_causal=causal)[0]
            for head in range(len(fused)):
                for query in range(fused.shape[1]):
                    steps = row_steps(one.trace, Head(kind, layer, head), query)
                    np.testing.assert_allclose(
                        steps.output, fused[head, query].numpy(), rtol=1e-6, atol=1e-6
                    )


def test_all_heads_together_are_what_the_unrecorded_block_gave(one: Pass) -> None:
    for kind in AttentionKind:
        for layer in range(one.trace.layers(kind)):
            block = one.block(kind, layer)
            weight, bias = double(block.output.weight), double(block.output.bias)
            output = one.seen[block][1][0].numpy()
            for query in range(len(output)):
                heads = one.trace.heads(kind, layer)
                z = [row_steps(one.trace, Head(kind, layer, h), query).output for h in heads]
                ours = weight @ np.concatenate(z) + bias
                np.testing.assert_allclose(ours, output[query], rtol=1e-6, atol=1e-6)


def test_the_toy_of_two_dimensions() -> None:
    """q = [0, 1] against three keys, worked out by hand."""
    keys = np.array([[1.0, 0], [0, 1], [1, -1]])
    values = np.array([[1.0, 0], [0, 2], [2, 1]])
    steps = attend_row(np.array([0.0, 1]), keys, values, np.ones(3, np.bool_))
    assert steps.products.tolist() == [[0, 0], [0, 1], [0, -1]]
    assert steps.sums.tolist() == [0, 1, -1]
    assert steps.divisor == pytest.approx(1.41421356)
    assert steps.weights.round(3).tolist() == [0.284, 0.576, 0.140]
    assert steps.output.round(2).tolist() == [0.56, 1.29]
    np.testing.assert_allclose(steps.weights @ values, steps.output)


def row(scores: list[float], allowed: list[bool] | None = None, *, scaled: bool) -> RowSteps:
    """A row of the given sums q·k, of width 4: √d_k = 2."""
    keys = np.zeros((len(scores), 4))
    keys[:, 0] = scores
    mask = np.ones(len(scores), np.bool_) if allowed is None else np.array(allowed)
    steps = attend_row(np.array([1.0, 0, 0, 0]), keys, np.ones((len(scores), 2)), mask)
    return steps if scaled else steps.unscaled()


@given(st.lists(SIGNED, min_size=2, max_size=20))
def test_without_the_scaling_a_row_is_never_more_even(sums: list[float]) -> None:
    scaled, unscaled = row(sums, scaled=True), row(sums, scaled=False)
    assert unscaled.entropy <= scaled.entropy + 1e-9
    assert scaled.entropy <= np.log2(len(sums)) + 1e-9
    np.testing.assert_allclose(scaled.scores * 2, unscaled.scores, atol=1e-12)
    assert unscaled.scores.tolist() == unscaled.sums.tolist()


@pytest.mark.parametrize(
    ("sums", "bits"), [([3.0] * 8, 3.0), ([5.0], 0.0), ([2 * np.log(3), 0.0], 0.811278)]
)
def test_entropy_in_bits(sums: list[float], bits: float) -> None:
    """Even over 8; a single key; weights 3/4 and 1/4."""
    assert row(sums, scaled=True).entropy == pytest.approx(bits, abs=1e-6)


@given(st.lists(st.tuples(SIGNED, st.booleans()), min_size=1, max_size=12))
def test_a_masked_key_changes_nothing(cells: list[tuple[float, bool]]) -> None:
    sums, allowed = [s for s, _ in cells], [a for _, a in cells]
    steps = row(sums, allowed, scaled=True)
    assert not steps.weights[~steps.allowed].any()
    assert not steps.exponentials[~steps.allowed].any()
    left = [s for s, a in cells if a]
    if left:
        np.testing.assert_allclose(
            steps.weights[steps.allowed], row(left, scaled=True).weights, atol=1e-12
        )
    else:
        assert not steps.output.any()


def test_huge_scores_overflow_nothing() -> None:
    steps = row([5000.0, -5000.0, 4999.0], scaled=False)
    assert steps.weights == pytest.approx([1 / (1 + np.exp(-1)), 0, 1 / (1 + np.exp(1))])


def test_finished_weights_have_no_steps(one: Pass) -> None:
    kind = AttentionKind.ENCODER_SELF
    maps = np.full((1, 1, 2, 2), 0.5, np.float32)
    stored = Trace(
        source_tokens=one.trace.source_tokens[:2], attention={kind: StoredAttention(maps)}
    )
    with pytest.raises(UserError, match="only finished weights"):
        row_steps(stored, Head(kind, 0, 0), 0)
