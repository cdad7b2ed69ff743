from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from core.decoding.config import SearchConfig
from core.decoding.scoring import score_targets
from core.decoding.search import search, source_batch
from core.errors import UserError
from core.heads import Head
from core.model.attention import attention_weights
from core.model.gates import Gates, gated
from core.model.recording import Projections, Recording
from core.model.switched import switched
from core.model.transformer import Transformer
from core.switches import Scaling, Switches
from core.text.sentence_pieces import train_tokenizer
from core.text.tokens import TokenKind
from core.trace.pooled import pooled_weights
from core.trace.record import trace_hypothesis, trace_text
from core.trace.row_steps import row_steps
from core.trace.trace import AttentionKind, ComputedAttention, Trace
from tests.core.model.small import small_transformer

TOKENIZER = train_tokenizer(
    ["das Tier war zu müde", "the animal was too tired", "die Straße war zu breit"], 60
)
TEXT = "the animal was too tired"
SHORT = SearchConfig(max_extra=4)
BEAM = SearchConfig(beam=3, max_extra=4)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"encoder_layers": 3, "decoder_layers": 1, "encoder_heads": 2, "decoder_heads": 4},
    {"d_k": 5, "d_v": 3, "norm": "pre", "positions": "learned"},
]


def model(**changes: Any) -> Any:
    return small_transformer(vocab_size=TOKENIZER.vocab_size, **changes)


def pieces(ids: tuple[int, ...]) -> list[str]:
    return [TOKENIZER.token(id).piece for id in ids]


def recorded(one: Any, trace: Trace) -> dict[AttentionKind, tuple[list[Projections], bool]]:
    """A whole pass over the trace's own tokens."""
    recording = Recording()
    with torch.no_grad():
        source = source_batch(one, [[token.id for token in trace.source_tokens[:-1]]])
        target_in = torch.tensor([[token.id for token in trace.target_tokens]])
        one.decode(target_in, one.encode(source, recording), source, recording)
    return {
        AttentionKind.ENCODER_SELF: (recording.encoder_self, False),
        AttentionKind.DECODER_SELF: (recording.decoder_self, True),
        AttentionKind.CROSS: (recording.cross, False),
    }


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_each_map_is_the_attention_of_that_pass(changes: dict[str, Any]) -> None:
    one = model(**changes)
    trace = trace_text(one, TOKENIZER, TEXT, search=SHORT)
    assert trace.kinds == tuple(AttentionKind)
    for kind, (layers, causal) in recorded(one, trace).items():
        assert trace.layers(kind) == len(layers)
        queries, keys = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
        allowed = torch.ones(queries, keys, dtype=torch.bool)
        allowed = allowed.tril() if causal else allowed
        for layer, projections in enumerate(layers):
            expected = attention_weights(projections.query, projections.key, allowed)[0]
            assert len(trace.heads(kind, layer)) == len(expected)
            found = trace.layer_weights(kind, layer)
            assert found.shape == (len(expected), queries, keys)
            np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)  # float32 scores of ~10
            np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-6)
            assert (found[:, ~trace.allowed(kind)] == 0).all()
            assert trace.allowed(kind).tolist() == allowed.tolist()
            row = trace.row(kind, layer, 0, queries - 1)
            np.testing.assert_allclose(row, found[0, -1], atol=1e-6)


@pytest.mark.parametrize("config", [SHORT, BEAM], ids=["greedy", "beam"])
def test_tokens_and_probabilities_are_those_of_the_hypothesis(config: SearchConfig) -> None:
    one = model(seed=1)
    trace = trace_text(one, TOKENIZER, TEXT, search=config)
    source = TOKENIZER.encode(TEXT)
    (best, *_) = search(one, [source], config)[0]
    assert [token.piece for token in trace.source_tokens] == [*pieces(tuple(source)), "</s>"]
    assert [token.piece for token in trace.target_tokens] == ["<s>", *pieces(best.ids)]
    assert [token.piece for token in trace.predicted_tokens] == [*pieces(best.ids), "</s>"]
    assert (trace.text, trace.translation) == (TEXT, TOKENIZER.decode(best.ids))
    assert trace.log_probabilities is not None
    assert trace.log_probabilities.sum() == pytest.approx(best.log_probability, abs=1e-4)
    (forced,) = score_targets(one, [source], [best.ids])
    np.testing.assert_allclose(trace.log_probabilities, forced.numpy(), atol=1e-5)


def test_source_tokens_cover_the_text_and_show_unknown_characters() -> None:
    text = "the 駅 animal"
    trace = trace_text(model(), TOKENIZER, text, search=SHORT)
    words = [text[token.start : token.end] for token in trace.source_tokens[:-1]]
    assert "".join(words).replace(" ", "") == "the駅animal"
    (unknown,) = (token for token in trace.source_tokens if token.kind is TokenKind.UNKNOWN)
    assert unknown.label == "駅"


@pytest.mark.parametrize("target", ["das Tier war zu müde", "", "駅"])
def test_another_translation_can_be_recorded(target: str) -> None:
    one = model()
    trace = trace_text(one, TOKENIZER, TEXT, target=target)
    ids = TOKENIZER.encode(target)
    assert [token.id for token in trace.predicted_tokens] == [*ids, TOKENIZER.eos_id]
    assert trace.translation == target
    (forced,) = score_targets(one, [TOKENIZER.encode(TEXT)], [ids])
    assert trace.log_probabilities is not None
    np.testing.assert_allclose(trace.log_probabilities, forced.numpy(), atol=1e-5)


@pytest.mark.parametrize("scaling", Scaling)
def test_the_maps_of_a_switched_model_are_those_of_its_pass(scaling: Scaling) -> None:
    one, switches = model(), Switches(scaling=scaling, mask=False)
    masked = trace_text(one, TOKENIZER, TEXT, search=SHORT)
    with switched(one, switches):
        trace = trace_text(one, TOKENIZER, TEXT, search=SHORT, draft=(5, 6, 7))
        passed = recorded(one, trace)
        (forced,) = score_targets(
            one, [TOKENIZER.encode(TEXT)], [[token.id for token in trace.predicted_tokens[:-1]]]
        )
    assert trace.switches == switches
    if scaling is Scaling.ON:
        assert trace.translation == masked.translation
    assert trace.log_probabilities is not None
    np.testing.assert_allclose(trace.log_probabilities, forced.numpy(), atol=1e-5)
    for kind, (layers, _causal) in passed.items():
        assert trace.allowed(kind).all()
        for layer, projections in enumerate(layers):
            query, key = projections.query[0].double(), projections.key[0].double()
            products = query @ key.transpose(-2, -1) / scaling.divisor(query.shape[-1])
            expected = torch.softmax(products, dim=-1).numpy()
            found = trace.layer_weights(kind, layer)
            np.testing.assert_allclose(found, expected, atol=1e-5)
            np.testing.assert_allclose(trace.weights(kind, layer, 1), expected[1], atol=1e-5)
            np.testing.assert_allclose(trace.row(kind, layer, 1, 0), expected[1, 0], atol=1e-5)
            np.testing.assert_allclose(
                trace.scores(kind, layer, 1), products[1].numpy(), atol=1e-4, rtol=1e-5
            )
            head = Head(kind, layer, 1)
            np.testing.assert_allclose(pooled_weights(trace, head, 99), expected[1], atol=1e-5)
            steps = row_steps(trace, head, 0)
            np.testing.assert_allclose(steps.weights, expected[1, 0], atol=1e-5)
            assert steps.divisor == scaling.divisor(query.shape[-1])


def test_a_trace_knows_the_gates_that_it_was_made_with() -> None:
    one, factors = model(), {Head(AttentionKind.CROSS, 1, 0): 0.3}
    with gated(one, Gates.of(one.config, factors)):
        assert trace_text(one, TOKENIZER, TEXT, search=SHORT).gates == factors
    assert trace_text(one, TOKENIZER, TEXT, search=SHORT).gates == {}


def test_a_finished_hypothesis_is_recorded_as_the_translation_with_its_tokens() -> None:
    one = model()
    translated = trace_text(one, TOKENIZER, TEXT, search=BEAM)
    ids = [token.id for token in translated.predicted_tokens]
    trace = trace_hypothesis(one, TOKENIZER, TEXT, ids)
    for name in ("source_tokens", "target_tokens", "predicted_tokens", "text", "translation"):
        assert getattr(trace, name) == getattr(translated, name)
    for kind in AttentionKind:
        np.testing.assert_array_equal(trace.weights(kind, 1, 0), translated.weights(kind, 1, 0))


def test_of_a_prefix_the_rows_are_those_that_produced_its_tokens() -> None:
    one = model()
    ids = [*TOKENIZER.encode("das Tier war"), TOKENIZER.eos_id]
    whole, prefix = (trace_hypothesis(one, TOKENIZER, TEXT, ids[:n]) for n in (len(ids), 3))
    assert prefix.predicted_tokens == whole.predicted_tokens[:3]
    assert prefix.target_tokens == whole.target_tokens[:3]
    assert prefix.log_probabilities is not None
    assert whole.log_probabilities is not None
    np.testing.assert_allclose(prefix.log_probabilities, whole.log_probabilities[:3], atol=1e-5)
    for kind in (AttentionKind.DECODER_SELF, AttentionKind.CROSS):
        rows = whole.weights(kind, 1, 0)[:3, : len(prefix.key_tokens(kind))]
        np.testing.assert_allclose(prefix.weights(kind, 1, 0), rows, atol=1e-6)


def test_a_translation_beyond_the_learned_positions_is_refused() -> None:
    one = model(positions="learned", max_positions=32)
    with pytest.raises(UserError, match="learned 32 positions, but the translation has 34 tokens"):
        trace_hypothesis(one, TOKENIZER, TEXT, [7] * 34)


@pytest.mark.parametrize("text", ["", " ", "\t\n\u3000"])
def test_a_text_without_a_visible_character_is_the_users_error(text: str) -> None:
    with pytest.raises(UserError, match="no visible character"):
        trace_text(model(), TOKENIZER, text)


@pytest.mark.parametrize("text", ["a\ud800", "a\0b", "</s>", "👩‍👩‍👧 שלום", "\u202e x"])
def test_any_other_text_is_traced(text: str) -> None:
    trace = trace_text(model(), TOKENIZER, text, search=SHORT)
    assert trace.source_tokens[-1].piece == "</s>"
    assert all(token.kind is not TokenKind.SPECIAL for token in trace.source_tokens[:-1])


def test_a_check_ends_the_work() -> None:
    calls: list[None] = []
    check: Callable[[], None] = lambda: calls.append(None)  # noqa: E731
    trace = trace_text(model(), TOKENIZER, TEXT, search=SHORT, check=check)
    assert len(calls) == len(trace.predicted_tokens)

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        trace_text(model(), TOKENIZER, TEXT, check=stop)


def parts(trace: Trace) -> list[np.ndarray]:
    """Every number of it."""
    assert trace.log_probabilities is not None
    layers = [
        (layer.query, layer.key, layer.value)
        for attention in trace.attention.values()
        if isinstance(attention, ComputedAttention)
        for layer in attention.projections
    ]
    return [trace.log_probabilities, *(array for layer in layers for array in layer)]


DRAFTED: list[tuple[dict[str, Any], SearchConfig]] = [
    *((changes, SearchConfig(max_extra=12)) for changes in VARIANTS),
    ({"pruned_heads": ("decoder_self.0.1", "cross.1.0")}, SearchConfig(max_extra=12)),
    ({"decoder_start": "zero"}, SearchConfig(max_length=9, free_end=True)),
    ({}, SearchConfig(beam=3, max_extra=12)),
]


@pytest.mark.parametrize(("changes", "config"), DRAFTED, ids=str)
def test_a_draft_changes_nothing(changes: dict[str, Any], config: SearchConfig) -> None:
    one = model(seed=2, **changes)
    plain = trace_text(one, TOKENIZER, TEXT, search=config)
    ids = [token.id for token in plain.predicted_tokens[:-1]]
    other = next(id for id in range(5, 60) if id not in ids)
    at = len(ids) // 2
    drafts = [
        ids,
        ids[:-1],
        ids[:1],
        [*ids, other],
        [*ids, *ids],
        [*ids[:at], other, *ids[at + 1 :]],
        [*ids[:at], *(other if n % 2 else id for n, id in enumerate(ids[at:]))],
        [*ids[:at], *(other if n % 2 else id for n, id in enumerate(ids[at:-1])), ids[-1]],
        [*ids[: at + 1], other, ids[at + 2], other, *ids[at + 4 :]],
        [other, *ids],
        [other] * 200,
    ]
    for draft in drafts:
        trace = trace_text(one, TOKENIZER, TEXT, search=config, draft=draft)
        assert trace.predicted_tokens == plain.predicted_tokens
        assert trace.translation == plain.translation
        for found, expected in zip(parts(trace), parts(plain), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_what_a_draft_says_is_not_searched_for() -> None:
    one = model(seed=2)
    steps: list[None] = []
    check: Callable[[], None] = lambda: steps.append(None)  # noqa: E731
    config = SearchConfig(max_extra=12)
    plain = trace_text(one, TOKENIZER, TEXT, search=config, check=check)
    ids = [token.id for token in plain.predicted_tokens[:-1]]
    other = next(id for id in range(5, 60) if id not in ids)
    assert len(steps) == len(ids) + 1
    for draft, count in ((ids, 0), ([*ids[:-1], other], 1), (ids[:2], len(ids) - 2)):
        steps.clear()
        trace_text(one, TOKENIZER, TEXT, search=config, draft=draft, check=check)
        assert len(steps) == count


def test_passes_over_a_long_text_take_the_threads_that_they_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used: list[tuple[str, int]] = []
    for name in ("encode", "step", "decode"):
        method = getattr(Transformer, name)

        def noted(*given: Any, name: str = name, method: Any = method, **named: Any) -> Any:
            used.append((name, torch.get_num_threads()))
            return method(*given, **named)

        monkeypatch.setattr(Transformer, name, noted)
    before = torch.get_num_threads()
    short, one = SearchConfig(max_length=3), model()
    trace_text(one, TOKENIZER, TEXT, search=short, threads=before + 1)
    assert {threads for _, threads in used} == {before}
    used.clear()
    trace_text(one, TOKENIZER, "animal " * 300, search=short, threads=before + 1)
    assert dict(used) == {"encode": before + 1, "step": before, "decode": before}
    assert torch.get_num_threads() == before


def test_a_draft_hides_no_damage() -> None:
    one = model()
    torch.nn.init.constant_(one.decoder[0].feed_forward.inner.bias, float("nan"))
    with pytest.raises(UserError, match="weights are damaged"):
        trace_text(one, TOKENIZER, TEXT, draft=[7, 8, 9])


def test_memory_grows_with_the_text_and_not_with_its_square() -> None:
    one = model()
    limit = SearchConfig(max_length=5)

    def numbers(repeat: int) -> int:
        trace = trace_text(one, TOKENIZER, "animal " * repeat, search=limit)
        attention = trace.attention[AttentionKind.ENCODER_SELF]
        assert isinstance(attention, ComputedAttention)
        return sum(
            array.size
            for layer in attention.projections
            for array in (layer.query, layer.key, layer.value)
        )

    # One token more for the end of each text.
    assert numbers(200) / numbers(100) == pytest.approx(2, rel=0.02)
