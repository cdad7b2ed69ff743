"""A pruned model against the whole one with the same gates closed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from core.analysis.importance import importance
from core.analysis.pruning import prune
from core.checkpoints.header import read_header
from core.checkpoints.native import load_checkpoint, save_checkpoint
from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.gates import Gates, gated
from core.model.transformer import Transformer
from tests.core.analysis.planted import COPYING, heads, planted
from tests.core.model.small import padded, random_ids, small_transformer

E, D, C = AttentionKind
CLOSE = {"atol": 1e-5, "rtol": 0}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "d_k": 5, "d_v": 3, "encoder_heads": 2, "decoder_heads": 4, "bias": False},
]
# Single heads, and the whole of a layer in each kind.
PRUNED = {
    "a few": (Head(E, 0, 1), Head(D, 1, 0), Head(C, 1, 2), Head(C, 1, 0)),
    "whole layers": tuple(
        Head(kind, layer, head) for kind, layer in ((E, 1), (D, 0), (C, 1)) for head in range(4)
    ),
}
SOURCE, TARGET_IN = padded(random_ids(3, 7), 4, 2), random_ids(3, 6, seed=1)
SOURCES = [[5, 6, 7, 8], [9, 10], [11, 12, 13]]


@pytest.fixture(params=VARIANTS, ids=str)
def model(request: pytest.FixtureRequest) -> Iterator[Transformer]:
    with torch.no_grad():
        yield small_transformer(**request.param)


def chosen(model: Transformer, which: str) -> list[Head]:
    return [head for head in PRUNED[which] if head.head < model.config.heads(head.kind)]


@pytest.mark.parametrize("which", PRUNED)
def test_it_computes_what_the_closed_gates_do(model: Transformer, which: str) -> None:
    pruned = chosen(model, which)
    smaller = prune(model, pruned)
    with gated(model, Gates.of(model.config, dict.fromkeys(pruned, 0.0))):
        expected = model(SOURCE, TARGET_IN)
    assert not torch.allclose(expected, model(SOURCE, TARGET_IN), atol=1e-3)
    torch.testing.assert_close(smaller(SOURCE, TARGET_IN), expected, **CLOSE)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("which", PRUNED)
def test_it_finds_what_the_closed_gates_find(model: Transformer, which: str, beam: int) -> None:
    pruned = chosen(model, which)
    config = SearchConfig(beam=beam, n_best=beam, max_extra=4)
    found = search(prune(model, pruned), SOURCES, config)
    with gated(model, Gates.of(model.config, dict.fromkeys(pruned, 0.0))):
        expected = search(model, SOURCES, config)
    for own, other in zip(found, expected, strict=True):
        assert [one.ids for one in own] == [one.ids for one in other]
        for one, two in zip(own, other, strict=True):
            assert one.log_probability == pytest.approx(two.log_probability, abs=1e-4)


@pytest.mark.parametrize("which", PRUNED)
def test_it_is_smaller_by_what_the_heads_held(model: Transformer, which: str) -> None:
    config, pruned = model.config, chosen(model, which)
    held = 0
    for head in pruned:
        encoder = head.kind is E
        d_k = config.encoder_d_k if encoder else config.decoder_d_k
        d_v = config.encoder_d_v if encoder else config.decoder_d_v
        biases = 2 * d_k + d_v if config.bias else 0
        held += 2 * config.d_model * (d_k + d_v) + biases
    assert prune(model, pruned).parameter_count() == model.parameter_count() - held


def test_heads_keep_their_numbers_when_it_is_pruned_again(model: Transformer) -> None:
    first, second = chosen(model, "a few")[:2], chosen(model, "a few")[2:]
    twice, at_once = prune(prune(model, first), second), prune(model, [*first, *second])
    assert twice.config == at_once.config
    assert torch.equal(twice(SOURCE, TARGET_IN), at_once(SOURCE, TARGET_IN))


def test_gates_of_a_pruned_model_go_by_the_old_numbers(model: Transformer) -> None:
    smaller = prune(model, [Head(C, 1, 0)])
    with gated(model, Gates.of(model.config, {Head(C, 1, 0): 0.0, Head(C, 1, 1): 0.3})):
        expected = model(SOURCE, TARGET_IN)
    with gated(smaller, Gates.of(smaller.config, {Head(C, 1, 1): 0.3})):
        torch.testing.assert_close(smaller(SOURCE, TARGET_IN), expected, **CLOSE)


def test_the_whole_model_stays_as_it_was(model: Transformer) -> None:
    before = model(SOURCE, TARGET_IN)
    smaller = prune(model, chosen(model, "a few"))
    for parameter in smaller.parameters():
        parameter.zero_()
    assert torch.equal(model(SOURCE, TARGET_IN), before)


def test_importance_leaves_a_pruned_head_out() -> None:
    pruned = [Head(E, 0, 1), *(Head(D, 0, head) for head in range(3))]
    found = importance(prune(small_transformer(), pruned), [([5, 6], [7, 8])])
    for kind, values in found.items():
        for layer, row in enumerate(values):
            for head, value in enumerate(row):
                assert (value > 0) != (Head(kind, layer, head) in pruned)
                assert (value != value) == (Head(kind, layer, head) in pruned)


@pytest.mark.parametrize("which", PRUNED)
def test_it_is_saved_and_loaded(tmp_path: Path, which: str) -> None:
    checkpoint = planted()
    of_planted = [head for head, _ in heads() if head != COPYING]
    pruned = of_planted if which == "whole layers" else of_planted[::2]
    smaller = prune(checkpoint.model, pruned)
    path = tmp_path / "smaller.safetensors"
    save_checkpoint(path, smaller, checkpoint.tokenizer, {})
    loaded = load_checkpoint(path)
    assert loaded.config.pruned_heads == tuple(sorted(head.code for head in pruned))
    assert read_header(path).parameters == smaller.parameter_count()
    ids = torch.tensor([checkpoint.tokenizer.encode("the dog crossed the street .")])
    with torch.no_grad():
        assert torch.equal(loaded.model(ids, ids), smaller(ids, ids))


def test_what_cannot_be_pruned() -> None:
    model = small_transformer()
    every = [
        Head(kind, layer, head) for kind in AttentionKind for layer in range(2) for head in range(3)
    ]
    with pytest.raises(UserError, match="keep at least one"):
        prune(model, every)
    with pytest.raises(UserError, match=r"no head cross:3\.1"):
        prune(model, [Head(C, 2, 0)])
    with pytest.raises(UserError, match=r"cross:2\.1 was pruned"):
        prune(prune(model, [Head(C, 1, 0)]), [Head(C, 1, 0)])
    assert prune(model, every[1:]).config.kept_heads(E, 0) == (0,)
