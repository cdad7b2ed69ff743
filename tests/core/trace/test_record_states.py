"""Against a forward pass in NumPy float64 that keeps every state."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.analysis.pruning import prune
from core.decoding.config import SearchConfig
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.gates import Gates, gated
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.trace.npz import load_npz, save_npz
from core.trace.record import trace_text
from core.trace.record_states import record_states
from core.trace.states import angles, lengths, most_active, state_arrays
from core.trace.trace import Trace
from tests.core.model.small import small_transformer
from tests.core.trace.state_twin import StateTwin

TOKENIZER = train_tokenizer(
    ["das Tier war zu müde", "the animal was too tired", "die Straße war zu breit"], 60
)
TEXT = "the animal was too tired"
SHORT = SearchConfig(max_extra=4)
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "pre-norm without top norms": {"norm": "pre", "top_norm": False},
    "post-norm with top norms": {"norm": "post", "top_norm": True},
    "no bias": {"bias": False},
    "unlike widths": {"d_k": 5, "d_v": 3, "norm": "pre", "positions": "learned"},
    "unlike stacks": {
        **{"encoder_layers": 3, "decoder_layers": 1},
        **{"encoder_heads": 2, "decoder_heads": 6, "decoder_d_ff": 9},
    },
    "unscaled, large epsilon": {"scale_embedding": False, "norm_epsilon": 0.1},
    "as Marian": {
        **{"target_vocab_size": TOKENIZER.vocab_size, "shared_embeddings": "target"},
        **{"activation": "silu", "position_layout": "halves", "decoder_start": "zero"},
        **{"output_bias": True, "suppressed_ids": (0,), "bos_id": 0},
    },
}


def traced(model: Transformer) -> Trace:
    return trace_text(model, TOKENIZER, TEXT, search=SHORT)


def small(**changes: Any) -> Transformer:
    return small_transformer(vocab_size=TOKENIZER.vocab_size, **changes)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_each_state_is_that_of_the_formulas(changes: dict[str, Any]) -> None:
    model = small(**changes)
    trace = traced(model)
    states, twin = record_states(model, trace), StateTwin(model, trace)

    def agree(found: Any, expected: Any) -> None:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)

    for name, stack, embedded in zip(
        ("encoder", "decoder"), (states.encoder, states.decoder), twin.embedded, strict=True
    ):
        agree(stack.positioned, embedded)
        for number, layer in enumerate(stack.layers):
            for state in layer:
                place = f"{name}.{number}.{state.sublayer.value}"
                for what in ("before", "added", "sum", "normed", "after"):
                    agree(getattr(state, what), twin.states[place][what])
            agree(layer[-1].hidden, twin.hidden[f"{name}.{number}.feed_forward"])
    output = model.output_embedding.weight.detach().numpy().T
    bias = 0 if model.output_bias is None else model.output_bias.detach().numpy()
    logits = states.decoder.output @ output + bias
    possible = np.isfinite(twin.result)
    agree(logits[possible], twin.result[possible])


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_the_stream_is_handed_on_without_a_gap(changes: dict[str, Any]) -> None:
    model = small(**changes)
    states = record_states(model, traced(model))
    for stack in (states.encoder, states.decoder):
        flat = [state for layer in stack.layers for state in layer]
        for one, following in pairwise(flat):
            np.testing.assert_array_equal(one.after, following.before)
        with torch.no_grad():
            encodings = model.positions(0, len(stack.positions)).numpy()
        np.testing.assert_array_equal(stack.embedded + encodings, stack.positioned)
        if not model.config.has_top_norm:
            np.testing.assert_array_equal(flat[-1].after, stack.output)
        streams = stack.streams()
        np.testing.assert_array_equal(streams[0], stack.positioned)
        np.testing.assert_array_equal(streams[-1], flat[-1].after)


def test_chosen_tokens_are_those_of_the_whole() -> None:
    model = small()
    trace = traced(model)
    whole = record_states(model, trace)
    some = record_states(model, trace, source=[2], target=[3, 0])
    assert some.decoder.positions == (3, 0)
    assert some.encoder.layers[0][0].hidden.shape == (1, 12)
    assert some.decoder.layers[1][2].hidden.shape == (2, 20)
    for name, array in state_arrays(some).items():
        rows = [2] if "encoder" in name else [3, 0]
        np.testing.assert_array_equal(array, state_arrays(whole)[name].take(rows, axis=-2))
    assert record_states(model, trace, source=()).encoder.output.shape == (0, 12)


def test_recording_changes_nothing_and_leaves_nothing() -> None:
    model = small()
    trace = traced(model)
    source = torch.tensor([[token.id for token in trace.source_tokens]])
    with torch.no_grad():
        before = model(source, source)
        states = record_states(model, trace)
        after = model(source, source)
        memory = model.encode(source)[0].numpy()
    assert torch.equal(before, after)
    np.testing.assert_array_equal(states.encoder.output, memory)
    hooks = [[*module._forward_hooks, *module._forward_pre_hooks] for module in model.modules()]
    assert not any(hooks)


def test_gates_and_pruned_heads_are_in_the_states() -> None:
    model = small()
    trace = traced(model)
    gone = [Head(AttentionKind.CROSS, 1, head) for head in range(3)]
    with gated(model, Gates.of(model.config, dict.fromkeys(gone, 0.0))):
        closed = record_states(model, trace).decoder
    smaller = record_states(prune(model, gone), trace).decoder
    assert not closed.layers[1][1].hidden.any()
    assert smaller.layers[1][1].hidden.shape[1] == 0
    np.testing.assert_allclose(smaller.output, closed.output, atol=1e-5)


def test_a_trace_from_a_file_has_no_states(tmp_path: Path) -> None:
    model = small()
    save_npz(traced(model), tmp_path / "one.npz")
    with pytest.raises(UserError, match="states need the model"):
        record_states(model, load_npz(tmp_path / "one.npz"))


def test_most_active_units() -> None:
    hidden = np.array([0.5, -3.0, 0.0, 2.0, -0.5], np.float32)
    assert most_active(hidden, 3) == ((1, -3.0), (3, 2.0), (0, 0.5))
    assert len(most_active(hidden, 99)) == 5


def test_lengths_and_angles() -> None:
    first = np.array([[3, 4], [1, 0], [1, 0], [1, 0], [0, 0]], np.float32)
    second = np.array([[6, 8], [0, 2], [-1, 0], [1, 1e-4], [1, 0]], np.float32)
    np.testing.assert_allclose(lengths(first), [5, 1, 1, 1, 0])
    expected = [0, 90, 180, np.degrees(1e-4), np.nan]
    np.testing.assert_allclose(angles(first, second), expected, rtol=1e-5, atol=1e-5)
