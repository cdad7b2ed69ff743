"""The layer lens and the parts of the logits, against NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.analysis import readout
from core.analysis.decomposition import DecompositionError
from core.analysis.direct import Source
from core.analysis.lens import LayerLens
from core.analysis.pruning import prune
from core.analysis.readout import contributions_to, direct_parts, layer_lens, pushed_words
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.gates import Gates, gated
from core.model.int8 import to_int8
from core.model.transformer import Transformer
from core.trace.record_states import record_states
from core.trace.states import Sublayer
from core.trace.trace import Trace
from tests.core.model.reference import Array
from tests.core.trace.state_twin import StateTwin
from tests.core.trace.test_record_states import VARIANTS, small, traced

NAMES = {
    AttentionKind.DECODER_SELF: "self_attention",
    AttentionKind.CROSS: "cross_attention",
}


class Replay:
    """The decoder's residual path at one row with every standard deviation as it was."""

    def __init__(self, model: Transformer, trace: Trace, row: int) -> None:
        self.twin = StateTwin(model, trace)
        self.config = model.config
        self.row = row
        self.places = [
            f"decoder.{layer}.{sublayer.value}"
            for layer in range(self.config.decoder_layers)
            for sublayer in Sublayer
        ]

    def output(self, start: Array | float, added: dict[str, Array], shifts: set[str]) -> Array:
        """[V] without the output's bias, of these vectors alone and these norms' biases β."""
        x = start + np.zeros(self.config.d_model)
        for place in self.places:
            x = x + added.get(place, 0.0)
            if self.config.norm == "post":
                x = self.norm(f"{place}_residual.norm", place, x, place in shifts)
        if self.config.has_top_norm:
            x = self.norm("decoder_norm", None, x, "top" in shifts)
        tied = self.config.shared_embeddings
        table = {"all": "source", "target": "target"}.get(tied, "output")
        return x @ self.twin.weights[f"{table}_embedding.weight"].T

    def norm(self, name: str, place: str | None, x: Array, shifted: bool) -> Array:
        states = self.twin.states
        real = states[place]["sum"] if place else states[self.places[-1]]["after"]
        sigma = np.sqrt(real[self.row].var() + self.config.norm_epsilon)
        weights = self.twin.weights
        return (x - x.mean()) / sigma * weights[f"{name}.weight"] + (
            shifted * weights[f"{name}.bias"]
        )


def expected_parts(replay: Replay) -> dict[str, Array]:
    """What each part alone gives, [V] by its code."""
    twin, row, config = replay.twin, replay.row, replay.config
    position = (
        twin.weights["positions.weight"][row]
        if config.positions == "learned"
        else twin.sinusoid(row)
    )
    parts = {
        "position": replay.output(position, {}, set()),
        "embedding": replay.output(twin.embedded[1][row] - position, {}, set()),
    }
    for place in replay.places:
        _, layer, name = place.split(".")
        last = "outer" if name == "feed_forward" else "output"
        bias = twin.weights.get(f"{place}.{last}.bias")
        if bias is not None:
            parts[f"{name}.{layer}.bias"] = replay.output(0.0, {place: bias}, set())
        if name == "feed_forward":
            added = twin.states[place]["added"][row] - bias
            parts[f"{name}.{layer}"] = replay.output(0.0, {place: added}, set())
        else:
            kind = "cross" if name == "cross_attention" else "decoder_self"
            for head, sent in enumerate(twin.heads[place]):
                only = replay.output(0.0, {place: sent[row]}, set())
                parts[f"{kind}.{layer}.{head}"] = only
        if config.norm == "post":
            parts[f"{name}.{layer}.norm"] = replay.output(0.0, {}, {place})
    if config.has_top_norm:
        parts["norm"] = replay.output(0.0, {}, {"top"})
    return parts


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_each_part_is_what_it_gives_alone_and_all_sum_to_the_logit(changes: dict[str, Any]) -> None:
    model = small(**changes)
    trace = traced(model)
    states = record_states(model, trace)
    ids = list(range(1, model.config.target_vocabulary))
    for row in (0, len(trace.target_tokens) - 1):
        direct = direct_parts(model, states, row)
        found = contributions_to(model, direct, ids)
        replay = Replay(model, trace, row)
        logits = replay.twin.result[row, ids]
        size = max(1.0, np.abs(logits).max())
        expected = expected_parts(replay)
        codes = [part.code for part in direct.parts]
        assert sorted(codes) == sorted(expected)
        for code, values in zip(codes, found[:-1], strict=True):
            np.testing.assert_allclose(values, expected[code][ids], atol=1e-4 * size)
        np.testing.assert_allclose(found.sum(axis=0), logits, atol=1e-4 * size)
        assert direct.error < 1e-5


def test_a_sub_layers_parts_are_what_it_adds() -> None:
    model = small(norm="pre", top_norm=False)
    states = record_states(model, traced(model))
    direct = direct_parts(model, states, 2)
    for number, layer in enumerate(states.decoder.layers):
        for state in layer:
            indices = direct.of_sublayer(number, state.sublayer)
            added = direct.vectors[list(indices)].sum(axis=0)
            np.testing.assert_allclose(added, state.added[2], atol=1e-5)


def test_the_words_that_a_head_pushes() -> None:
    model = small(suppressed_ids=(5,))
    direct = direct_parts(model, record_states(model, traced(model)), 1)
    head = Head(AttentionKind.CROSS, 1, 2)
    index = direct.index(head)
    assert direct.parts[index].code == "cross.1.2"
    every = list(range(model.config.target_vocabulary))
    changes = contributions_to(model, direct, every)[index]
    changes -= changes.mean()
    changes[5] = 0
    words = pushed_words(model, direct, [index], 3)
    order = np.argsort(changes)
    assert [word.id for word in words.up] == order[:-4:-1].tolist()
    assert [word.id for word in words.down] == order[:3].tolist()
    for word in (*words.up, *words.down):
        assert word.change == pytest.approx(changes[word.id], abs=1e-4)


def test_a_closed_gate_contributes_nothing_and_a_pruned_head_has_no_part() -> None:
    model = small()
    trace = traced(model)
    head = Head(AttentionKind.DECODER_SELF, 0, 1)
    with gated(model, Gates.of(model.config, {head: 0.0})):
        closed = direct_parts(model, record_states(model, trace), 1)
    assert not closed.vectors[closed.index(head)].any()
    smaller = prune(model, [head])
    pruned = direct_parts(smaller, record_states(smaller, trace), 1)
    assert {part.code for part in closed.parts} - {part.code for part in pruned.parts} == {
        "decoder_self.0.1"
    }


def test_parts_that_miss_the_output_and_8_bits_are_refused() -> None:
    model = small()
    trace = traced(model)
    states = record_states(model, trace)
    other = small(seed=1)
    with pytest.raises(DecompositionError, match="miss the decoder's output"):
        direct_parts(other, states, 0)
    to_int8(model)
    with pytest.raises(UserError, match="without 8-bit layers"):
        direct_parts(model, record_states(model, trace), 0)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_the_lens_reads_each_layer_by_the_formulas(changes: dict[str, Any]) -> None:
    model = small(**changes)
    trace = traced(model)
    lens = layer_lens(model, trace, record_states(model, trace))
    twin = StateTwin(model, trace)
    layers = model.config.decoder_layers
    streams = [
        twin.embedded[1],
        *(twin.states[f"decoder.{layer}.feed_forward"]["after"] for layer in range(layers)),
    ]
    replay = Replay(model, trace, 0)
    wanted = [token.id for token in trace.predicted_tokens]
    rows = np.arange(len(wanted))
    for number, stream in enumerate(streams):
        x = twin.final_norm("decoder_norm", stream)
        tied = {"all": "source", "target": "target"}[replay.config.shared_embeddings]
        logits = x @ twin.weights[f"{tied}_embedding.weight"].T
        logits = logits + twin.weights.get("output_bias", 0.0)
        logits[:, list(model.config.suppressed_ids)] = -np.inf
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        expected = exponentials / exponentials.sum(axis=1, keepdims=True)
        order = np.argsort(-expected, axis=1)[:, : readout.TOP]
        best = np.take_along_axis(expected, order, axis=1)
        np.testing.assert_allclose(lens.probabilities[number], best, rtol=1e-3, atol=1e-6)
        named = np.take_along_axis(expected, lens.ids[number], axis=1)
        np.testing.assert_allclose(named, best, rtol=1e-3, atol=1e-6)
        own = expected[rows, wanted]
        np.testing.assert_allclose(lens.predicted[number], own, rtol=1e-3, atol=1e-6)
        higher = (expected > own[:, None] * (1 + 1e-3)).sum(axis=1) + 1
        assert (lens.ranks[number] >= higher).all()
    assert trace.log_probabilities is not None
    np.testing.assert_allclose(
        np.log(lens.predicted[-1]), trace.log_probabilities, rtol=1e-4, atol=1e-5
    )


def test_the_layer_from_which_the_final_word_leads() -> None:
    first = np.array([[7, 1, 5], [3, 1, 5], [7, 1, 4], [7, 1, 4], [7, 1, 5]])
    empty = np.zeros((5, 3))
    lens = LayerLens(first[:, :, None], empty[:, :, None], empty, empty.astype(int))
    assert lens.leads().tolist() == [2, 0, 4], "a lead that was lost again does not count"


def test_chunks_and_chosen_positions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    trace = traced(model)
    whole = layer_lens(model, trace, record_states(model, trace))
    monkeypatch.setattr(readout, "_CHUNK", 2 * model.config.target_vocabulary)
    checks: list[None] = []
    some = layer_lens(
        model, trace, record_states(model, trace, target=[3]), check=lambda: checks.append(None)
    )
    assert len(checks) == 2, "for three rows"
    np.testing.assert_array_equal(some.ids, whole.ids[:, [3]])
    np.testing.assert_allclose(some.predicted, whole.predicted[:, [3]], rtol=1e-5)


def test_sources_of_parts_have_codes() -> None:
    model = small()
    direct = direct_parts(model, record_states(model, traced(model)), 0)
    assert {part.source for part in direct.parts} == set(Source)
    assert len({part.code for part in direct.parts}) == len(direct.parts)
