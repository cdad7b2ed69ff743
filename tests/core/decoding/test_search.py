"""The fast search against slow twins: no cache, no batch, whole passes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from core.decoding.beam import beam_search
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.greedy import greedy_search
from core.decoding.hypothesis import Hypothesis
from core.decoding.scoring import score_targets
from core.decoding.search import proceed, search, source_batch
from core.errors import UserError
from core.model.transformer import Transformer
from tests.core.model.small import random_ids, small_transformer

BEAM = SearchConfig(beam=4, max_extra=8)
SEARCHES = [
    SearchConfig(max_extra=8),
    BEAM,
    SearchConfig(beam=3, alpha=2.0, n_best=3, max_extra=8),
    SearchConfig(beam=5, alpha=-0.5, penalty="length", n_best=2, max_extra=8),
]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "d_k": 5, "d_v": 3, "decoder_heads": 4},
    {"positions": "learned", "shared_embeddings": "none", "output_bias": True},
    {"positions": "rotary"},
]


def sources() -> list[list[int]]:
    """Sentences of different lengths, so that a batch of them is padded."""
    return [random_ids(length, seed=length).tolist() for length in (3, 9, 1, 6, 6)]


def next_log_probabilities(model: Transformer, source: list[int], ids: list[int]) -> torch.Tensor:
    """By a whole pass, without a cache: [V]."""
    config = model.config
    target_in = torch.tensor([[config.bos_id, *ids]])
    with torch.no_grad():
        logits = model(torch.tensor([[*source, config.eos_id]]), target_in)[0, -1]
    logits = logits.log_softmax(dim=-1)
    logits[[config.pad_id, config.bos_id]] = float("-inf")
    return logits


def slow_beam(model: Transformer, source: list[int], config: SearchConfig) -> list[Hypothesis]:
    """Every hypothesis by itself, and always up to the limit."""
    end = model.config.eos_id
    longest = config.longest_output(len(source) + 1, model.config)
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    finished = []
    for length in range(1, longest + 1):
        candidates = []
        for so_far, ids in live:
            following = next_log_probabilities(model, source, ids)
            allowed = [end] if length == longest else range(len(following))
            candidates += [(so_far + following[id].item(), [*ids, id]) for id in allowed]
        candidates.sort(key=lambda one: -one[0])
        finished += [
            Hypothesis.finished(ids[:-1], total, config)
            for total, ids in candidates[: config.beam]
            if ids[-1] == end
        ]
        live = [one for one in candidates if one[1][-1] != end][: config.beam]
    return sorted(finished, key=lambda one: -one.score)[: config.n_best]


def assert_same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [one.ids for one in found] == [one.ids for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
        assert one.score == pytest.approx(other.score, abs=1e-4)


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
@pytest.mark.parametrize("config", SEARCHES, ids=str)
def test_search_is_its_slow_twin(config: SearchConfig, changes: dict[str, Any]) -> None:
    model = small_transformer(**changes)
    for source, found in zip(sources(), search(model, sources(), config), strict=True):
        assert_same(found, slow_beam(model, source, config))


@pytest.mark.parametrize("config", SEARCHES, ids=str)
def test_a_batch_is_its_sentences_one_by_one(config: SearchConfig) -> None:
    model = small_transformer(seed=1)
    together = search(model, sources(), config)
    for source, found in zip(sources(), together, strict=True):
        assert_same(found, search(model, [source], config)[0])


@pytest.mark.parametrize("config", SEARCHES, ids=str)
def test_the_score_is_that_of_forced_decoding(config: SearchConfig) -> None:
    model = small_transformer(seed=2)
    ends = 0
    for source, found in zip(sources(), search(model, sources(), config), strict=True):
        for one in found:
            (forced,) = score_targets(model, [source], [one.ids])
            assert one.log_probability == pytest.approx(forced.sum().item(), abs=1e-4)
            ends += len(one.ids) + 1 == config.longest_output(len(source) + 1, model.config)
    assert ends  # some were forced to end, and their end counts all the same


def test_a_beam_of_one_is_greedy() -> None:
    model = small_transformer()
    batch = source_batch(model, sources())
    longest = [len(source) + 20 for source in sources()]
    with torch.inference_mode():
        memory = model.encode(batch)
        greedy = greedy_search(model, memory, batch, longest, GREEDY, proceed)
        beam = beam_search(model, memory, batch, longest, GREEDY, proceed)
    for one, found in zip(greedy, beam, strict=True):
        assert_same([one], found)


@pytest.mark.parametrize("config", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_padding_and_begin_never_come_out(config: SearchConfig) -> None:
    model = small_transformer(output_bias=True)
    with torch.no_grad():
        model.output_bias[[model.config.pad_id, model.config.bos_id]] = 50.0
    for best, *_ in search(model, sources(), config):
        assert best.ids
        assert not {model.config.pad_id, model.config.bos_id} & set(best.ids)


@pytest.mark.parametrize("config", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_a_check_ends_the_search(config: SearchConfig) -> None:
    model = small_transformer(output_bias=True)
    with torch.no_grad():
        model.output_bias[model.config.eos_id] = -50.0
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        search(model, sources(), config, check)
    assert calls == 3


@pytest.mark.parametrize("config", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_damaged_weights_are_said_to_be(config: SearchConfig) -> None:
    model = small_transformer()
    with torch.no_grad():
        model.source_embedding.weight.fill_(float("nan"))
    with pytest.raises(UserError, match="damaged"):
        search(model, sources(), config)


def test_a_model_in_training_is_refused() -> None:
    with pytest.raises(ValueError, match="evaluation"):
        search(small_transformer().train(), sources(), GREEDY)


@pytest.mark.parametrize("config", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_learned_positions_limit_the_output_and_refuse_a_longer_input(config: SearchConfig) -> None:
    model = small_transformer(positions="learned", max_positions=12, output_bias=True)
    with torch.no_grad():
        model.output_bias[model.config.eos_id] = -50.0
    ((best, *_),) = search(model, [[5] * 11], config)
    assert len(best.ids) == 11
    with pytest.raises(UserError, match="12 positions"):
        search(model, [[5] * 12], config)
