"""Against a twin in NumPy float64 that holds every vector of every head, query and key."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import torch

from core.analysis import decomposition
from core.analysis.composition import rollout
from core.analysis.contributions import Contributions, composition_trace, largest
from core.analysis.decomposition import MOST_TOKENS, TOLERANCE, DecompositionError, decompose
from core.analysis.pruning import prune
from core.decoding.config import SearchConfig
from core.errors import UserError
from core.heads import EVEN, AttentionKind, Head
from core.model.gates import Gates, gated
from core.model.switched import switched
from core.model.transformer import Transformer
from core.switches import Scaling, Switches
from core.text.sentence_pieces import train_tokenizer
from core.trace.npz import load_npz, save_npz
from core.trace.record import trace_text
from core.trace.trace import Trace
from tests.core.model.reference import Array, Reference, Sublayer
from tests.core.model.small import small_transformer

TOKENIZER = train_tokenizer(
    ["das Tier war zu müde", "the animal was too tired", "die Straße war zu breit"], 60
)
TEXT = "the animal was too tired"
SHORT = SearchConfig(max_extra=4)
E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "no bias": {"bias": False},
    "unlike widths": {"d_k": 5, "d_v": 3, "norm": "pre", "positions": "learned"},
    "unlike stacks": {
        **{"encoder_layers": 3, "decoder_layers": 1},
        **{"encoder_heads": 2, "decoder_heads": 6},
    },
    "large epsilon": {"norm_epsilon": 0.1},
    "as Marian": {
        **{"target_vocab_size": TOKENIZER.vocab_size, "shared_embeddings": "target"},
        **{"activation": "silu", "position_layout": "halves"},
    },
}


class Twin(Reference):
    """Keeps of each block the vectors A[h, q, k] f[h, k] as they are, and what became of them."""

    def __init__(self, model: Transformer) -> None:
        weights = {name: each.detach().numpy() for name, each in model.state_dict().items()}
        super().__init__(model.config, weights)
        self.vectors: dict[str, list[Array]] = defaultdict(list)  # [1, H, Q, K, D]
        self.parts: dict[str, list[Array]] = defaultdict(list)  # [Q, K (+ 1), D]
        self.outputs: dict[str, list[Array]] = defaultdict(list)  # [Q, D]
        self.rests: dict[str, list[Array]] = defaultdict(list)

    def multi_head(self, name: str, kind: str, query: Array, key: Array, value: Array, **how: bool):
        output = super().multi_head(name, kind, query, key, value, **how)
        heads, _, d_v = self.head_shape(kind)
        joined = self.weights[f"{name}.output.weight"]  # [D, H·d_v]
        sent = np.einsum(
            "bkhv,hvd->bhkd",
            value.reshape(1, len(value), heads, d_v),
            joined.T.reshape(heads, d_v, len(joined)),
        )
        weights = np.array(self.maps[kind][-1])[None]
        self.vectors[kind].append(np.einsum("bhqk,bhkd->bhqkd", weights, sent))
        return output

    def residual(self, name: str, x: Array, sublayer: Sublayer) -> Array:
        output = super().residual(name, x, sublayer)
        if "attention" in name:
            kind = C if "cross" in name else E if "encoder" in name else D
            self._take_apart(name, kind, x, output)
        return output

    def _take_apart(self, name: str, kind: str, x: Array, output: Array) -> None:
        moved = self.vectors[kind][-1][0].sum(axis=0)  # [Q, K, D]
        bias = self.weights.get(f"{name.removesuffix('_residual')}.output.bias", 0.0)
        if kind is C:
            parts = np.concatenate([moved, x[:, None]], axis=1)
        else:
            parts = moved + np.eye(len(x))[:, :, None] * x[:, None]
        rest = bias + np.zeros_like(x)
        if self.config.norm == "post":
            before = parts.sum(axis=1) + bias
            sigma = np.sqrt(before.var(axis=1) + self.config.norm_epsilon)
            size = x.shape[1]
            centre = np.eye(size) - np.ones((size, size)) / size
            gain = np.diag(self.weights[f"{name}.norm.weight"])
            parts = parts @ centre @ gain / sigma[:, None, None]
            rest = rest @ centre @ gain / sigma[:, None] + self.weights[f"{name}.norm.bias"]
        self.parts[kind].append(parts)
        self.rests[kind].append(rest)
        self.outputs[kind].append(output)

    def shares(self, kind: str, layer: int) -> Array:
        output, parts = self.outputs[kind][layer], self.parts[kind][layer]
        near = np.zeros(parts.shape[:2])
        for i, row in enumerate(parts):
            for j, part in enumerate(row):
                near[i, j] = max(0, abs(output[i]).sum() - abs(output[i] - part).sum())
            if not near[i].any():
                near[i] = [abs(part).sum() for part in row]
        return near / near.sum(axis=1, keepdims=True)


def doubled(**changes: Any) -> Transformer:
    return small_transformer(vocab_size=TOKENIZER.vocab_size, **changes).double()


def traced(model: Transformer, text: str = TEXT) -> Trace:
    return trace_text(model, TOKENIZER, text, search=SHORT)


def twin_of(model: Transformer, trace: Trace) -> Twin:
    twin = Twin(model)
    twin.logits(*([t.id for t in side] for side in (trace.source_tokens, trace.target_tokens)))
    return twin


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS.keys(), scope="module")
def both(request: pytest.FixtureRequest) -> tuple[Contributions, Twin]:
    model = doubled(**request.param)
    trace = traced(model)
    return decompose(model, trace), twin_of(model, trace)


def test_norms_are_those_of_the_vectors(both: tuple[Contributions, Twin]) -> None:
    found, twin = both
    for kind in AttentionKind:
        for layer, vectors in enumerate(twin.vectors[kind]):
            together = np.linalg.norm(vectors[0].sum(axis=0), axis=-1)
            np.testing.assert_allclose(found.layer_norms[kind][layer], together, atol=1e-5)
            for head, each in enumerate(np.linalg.norm(vectors[0], axis=-1)):
                np.testing.assert_allclose(found.norm(kind, layer, head), each, atol=1e-5)


def test_the_twins_parts_add_up_too(both: tuple[Contributions, Twin]) -> None:
    _, twin = both
    for kind in AttentionKind:
        for parts, rest, output in zip(
            twin.parts[kind], twin.rests[kind], twin.outputs[kind], strict=True
        ):
            np.testing.assert_allclose(parts.sum(axis=1) + rest, output, atol=1e-10)


def test_alti_is_the_recursion_of_the_authors(both: tuple[Contributions, Twin]) -> None:
    found, twin = both
    encoder = None
    for layer in range(len(twin.parts[E])):
        mix = twin.shares(E, layer)
        encoder = mix if encoder is None else mix @ encoder
        np.testing.assert_allclose(found.alti.encoder[layer], encoder, atol=1e-5)
    source = prefix = None
    for layer in range(len(twin.parts[D])):
        crossed = twin.shares(C, layer)
        stays = np.diag(crossed[:, -1]) @ twin.shares(D, layer)
        moved = crossed[:, :-1] @ encoder
        source = moved if source is None else moved + stays @ source
        prefix = stays if prefix is None else stays @ prefix
        total = (source.sum(axis=1) + prefix.sum(axis=1))[:, None]
        source, prefix = source / total, prefix / total
        np.testing.assert_allclose(found.alti.source[layer], source, atol=1e-5)
        np.testing.assert_allclose(found.alti.prefix[layer], prefix, atol=1e-5)
        share = found.alti.source_share(layer)
        np.testing.assert_allclose(share, source.sum(axis=1), atol=1e-5)
        assert share[0] + prefix[0, 0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_the_parts_add_up_to_the_real_output_in_single_precision(changes: dict[str, Any]) -> None:
    model = doubled(**changes).float()
    error = decompose(model, traced(model)).error
    assert 0 < error <= TOLERANCE


def test_what_does_not_add_up_is_refused() -> None:
    model = doubled(dropout=0.5)
    trace = traced(model)
    with pytest.raises(DecompositionError, match="miss its output"):
        decompose(model.train(), trace)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = doubled()
    trace = traced(model)
    whole = decompose(model, trace)
    monkeypatch.setattr(decomposition, "_CHUNK", 1)
    checks: list[None] = []
    chunked = decompose(model, trace, lambda: checks.append(None))
    rows = len(trace.source_tokens) + 2 * len(trace.target_tokens)
    assert len(checks) == 2 * rows, "before each row of each of the two layers"
    for one, other in zip(chunked.alti.source, whole.alti.source, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(chunked.layer_norms[D][1], whole.layer_norms[D][1], atol=1e-6)


def test_a_gate_scales_what_its_head_moves() -> None:
    model = doubled()
    off, turned = Head(E, 0, 1), Head(E, 0, 2)
    whole = decompose(model, traced(model))
    with gated(model, Gates.of(model.config, {off: 0.0, turned: -0.5})):
        found = decompose(model, traced(model))
    assert (found.norm(*off) == 0).all()
    np.testing.assert_allclose(found.norm(*turned), 0.5 * whole.norm(*turned), atol=1e-6)
    vectors = twin_of(model, whole.trace).vectors[E][0][0]
    together = np.linalg.norm(vectors[0] - 0.5 * vectors[2], axis=-1)
    np.testing.assert_allclose(found.layer_norms[E][0], together, atol=1e-5)


@pytest.mark.parametrize(
    "switches",
    [Switches(scaling=Scaling.OFF), Switches(scaling=Scaling.TWICE, mask=False)],
    ids=str,
)
def test_the_parts_of_a_changed_model_add_up_to_its_output(switches: Switches) -> None:
    model = small_transformer(vocab_size=TOKENIZER.vocab_size)
    gates = Gates.of(model.config, {Head(AttentionKind.CROSS, 0, 1): EVEN})
    with gated(model, gates), switched(model, switches):
        found = decompose(model, trace_text(model, TOKENIZER, TEXT, search=SHORT))
    assert found.error <= TOLERANCE


def test_pruned_heads_move_what_closed_gates_let_through() -> None:
    model = doubled()
    gone = [Head(E, 0, 1), *(Head(C, 1, head) for head in range(3))]
    with gated(model, Gates.of(model.config, dict.fromkeys(gone, 0.0))):
        closed = decompose(model, traced(model))
    smaller = prune(model, gone)
    found = decompose(smaller, traced(smaller))
    np.testing.assert_allclose(found.norm(E, 0, 2), closed.norm(E, 0, 2), atol=1e-6)
    assert (found.layer_norms[C][1] == 0).all()
    np.testing.assert_allclose(found.alti.source[1], closed.alti.source[1], atol=1e-6)
    assert list(found.norm_trace().heads(E, 0)) == [0, 2]
    assert list(found.layer_norm_trace().heads(C, 1)) == []


def test_masked_keys_contribute_exactly_nothing(both: tuple[Contributions, Twin]) -> None:
    found, _ = both
    masked = ~found.trace.allowed(D)
    for layer, maps in enumerate(found.alti.prefix):
        assert (maps[masked] == 0).all()
        assert (found.layer_norms[D][layer][masked] == 0).all()


def test_the_pass_leaves_nothing_on_the_model() -> None:
    model = doubled()
    decompose(model, traced(model))
    assert not any(module._forward_hooks for module in model.modules())


def test_too_long_a_text_is_said_to_be_before_anything_is_computed() -> None:
    model = doubled()
    trace = trace_text(model, TOKENIZER, "the " * MOST_TOKENS, target="das", search=SHORT)
    with pytest.raises(UserError, match=f"up to {MOST_TOKENS} tokens .* this text has 257"):
        decompose(model, trace)


def test_a_trace_from_a_file_has_a_rollout_and_nothing_else(tmp_path: Any) -> None:
    model = doubled()
    trace = traced(model)
    save_npz(trace, tmp_path / "one.npz")
    read = load_npz(tmp_path / "one.npz")
    with pytest.raises(UserError, match="contains only weights"):
        decompose(model, read)
    expected = rollout(trace)
    np.testing.assert_allclose(rollout(read).source[-1], expected.source[-1], atol=1e-6)


def test_a_trace_of_shares_answers_as_a_trace_of_weights() -> None:
    model = doubled()
    trace = traced(model)
    found = decompose(model, trace)
    shares = composition_trace(trace, found.alti)
    assert shares.kinds == trace.kinds
    assert shares.heads(C, 1) == trace.heads(C, 1)
    np.testing.assert_array_equal(shares.weights(C, 1, 2), found.alti.source[1])
    np.testing.assert_array_equal(shares.row(D, 0, 1, 2), found.alti.prefix[0][2])
    assert not shares.has_scores(E)
    norms = found.norm_trace()
    assert largest(norms, E) == max(
        found.norm(E, layer, head).max() for layer in range(2) for head in range(3)
    )
    np.testing.assert_allclose(norms.row(E, 1, 2, 0), found.norm(E, 1, 2)[0], atol=1e-6)
    np.testing.assert_array_equal(
        found.layer_norm_trace().weights(C, 0, 1), found.layer_norms[C][0]
    )
    assert torch.is_grad_enabled()
