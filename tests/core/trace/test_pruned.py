"""Traces of a pruned model: heads keep their numbers, and those that went are absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from core.analysis.pruning import prune
from core.decoding.config import SearchConfig
from core.model.gates import Gates, gated
from core.model.transformer import Transformer
from core.statistics.rows import head_statistics
from core.text.sentence_pieces import train_tokenizer
from core.trace.npz import load_npz, save_npz
from core.trace.record import trace_text
from core.trace.row_steps import row_steps
from core.trace.trace import AttentionKind, Head, Trace
from tests.core.model.small import small_transformer

E, D, C = AttentionKind
TOKENIZER = train_tokenizer(["das Tier war zu müde", "the animal was too tired"], 50)
TEXT = "the animal was too tired"
PRUNED = (Head(E, 0, 0), Head(E, 0, 2), *(Head(C, 1, head) for head in range(3)))
LEFT = {
    E: (Head(E, 0, 1), *(Head(E, 1, head) for head in range(3))),
    D: tuple(Head(D, layer, head) for layer in range(2) for head in range(3)),
    C: tuple(Head(C, 0, head) for head in range(3)),
}


@pytest.fixture(scope="module")
def model() -> Transformer:
    return small_transformer(vocab_size=TOKENIZER.vocab_size)


def traced(model: Transformer) -> Trace:
    return trace_text(model, TOKENIZER, TEXT, target="das Tier", search=SearchConfig(max_extra=4))


@pytest.fixture(scope="module")
def pruned(model: Transformer) -> Trace:
    return traced(prune(model, PRUNED))


def test_it_has_the_maps_of_the_gated_model_under_their_numbers(
    model: Transformer, pruned: Trace
) -> None:
    with gated(model, Gates.of(model.config, dict.fromkeys(PRUNED, 0.0))):
        whole = traced(model)
    assert pruned.log_probabilities == pytest.approx(whole.log_probabilities, abs=1e-5)
    for kind, heads in LEFT.items():
        assert pruned.layers(kind) == 2
        assert pruned.every_head(kind) == heads
        for head in heads:
            np.testing.assert_allclose(pruned.weights(*head), whole.weights(*head), atol=1e-5)
            steps, expected = row_steps(pruned, head, 1), row_steps(whole, head, 1)
            np.testing.assert_allclose(steps.output, expected.output, atol=1e-5)
            assert head_statistics(pruned, *head)["entropy"] == pytest.approx(
                head_statistics(whole, *head)["entropy"], abs=1e-4
            )


def test_a_pruned_head_is_absent(pruned: Trace) -> None:
    assert pruned.heads(E, 0) == (1,)
    assert pruned.heads(C, 1) == ()
    assert not any(pruned.has(head) for head in PRUNED)
    assert all(pruned.has(head) for heads in LEFT.values() for head in heads)
    assert not pruned.has(Head(E, 2, 0))
    assert not pruned.has(Head(E, -1, 0))
    assert pruned.layer_weights(E, 0).shape[0] == 1
    assert np.isnan(pruned.weights(E, 0, 0)).all(), "not zeros"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Head(E, 0, 1), Head(E, 0, 1)),
        (Head(E, 0, 2), Head(E, 0, 1)),
        (Head(C, 1, 2), Head(C, 0, 2)),
        (Head(C, 9, 9), Head(C, 0, 2)),
        (Head(D, -1, -1), Head(D, 0, 0)),
    ],
    ids=lambda head: head.code,
)
def test_the_nearest_head_is_one_that_is_there(pruned: Trace, wanted: Head, found: Head) -> None:
    assert pruned.nearest(wanted) == found


def test_a_kind_without_any_head_is_no_kind(model: Transformer) -> None:
    trace = traced(prune(model, [Head(D, layer, head) for layer in range(2) for head in range(3)]))
    assert trace.kinds == (E, C)


def test_a_file_says_which_heads_are_absent(pruned: Trace, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    seen: list[tuple[int, int]] = []
    save_npz(pruned, path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 18) for done in range(18)]
    loaded = load_npz(path)
    for kind, heads in LEFT.items():
        assert loaded.every_head(kind) == heads
        for head in heads:
            assert np.array_equal(loaded.weights(*head), pruned.weights(*head))
    with np.load(path) as file:
        assert file["cross"].shape[:2] == (2, 3)
        assert np.isnan(file["cross"][1]).all()
    again = tmp_path / "b.npz"
    save_npz(loaded, again)
    assert load_npz(again).every_head(E) == LEFT[E]


def test_a_pruned_model_decodes_step_by_step_as_in_one_pass(model: Transformer) -> None:
    smaller = prune(model, PRUNED)
    source, target = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9, 10]])
    with torch.no_grad():
        cache = smaller.start_cache(smaller.encode(source), source, capacity=4)
        steps = torch.stack([smaller.step(column, cache) for column in target.T], dim=1)
        torch.testing.assert_close(steps, smaller(source, target), atol=1e-5, rtol=1e-5)
