"""Decoding step by step against the whole pass at once."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from core.model.cache import DecoderCache
from core.model.recording import Recording
from core.model.transformer import Transformer
from tests.core.model.small import padded, random_ids, small_transformer

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "d_k": 5, "d_v": 3, "decoder_heads": 4},
    {"positions": "learned", "shared_embeddings": "none", "output_bias": True},
    {"positions": "rotary"},
    {"decoder_start": "zero", "scale_embedding": False, "suppressed_ids": (5, 7)},
]


def start(
    model: Transformer, source: Tensor, rows_per_sentence: int = 1, capacity: int = 8
) -> DecoderCache:
    return model.start_cache(
        model.encode(source), source, rows_per_sentence=rows_per_sentence, capacity=capacity
    )


def feed(model: Transformer, cache: DecoderCache, targets: Tensor) -> Tensor:
    """targets [N, T] → logits of each step, [N, T, V]."""
    return torch.stack([model.step(column, cache) for column in targets.T], dim=1)


@pytest.fixture(autouse=True)
def _no_gradients() -> Any:
    with torch.no_grad():
        yield


@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_steps_give_the_logits_of_the_whole_pass(changes: dict[str, Any], padding: int) -> None:
    model = small_transformer(**changes)
    source = random_ids(3, 7)
    if padding:
        source = padded(source, 4, padding)
    target_in = random_ids(3, 8, seed=1)
    steps = feed(model, start(model, source), target_in)
    torch.testing.assert_close(steps, model(source, target_in), **CLOSE)


def test_the_rows_of_a_sentence_are_separate_hypotheses() -> None:
    model = small_transformer()
    source, target_in = padded(random_ids(2, 7), 4, 1), random_ids(6, 8, seed=1)
    steps = feed(model, start(model, source, rows_per_sentence=3), target_in)
    torch.testing.assert_close(steps, model(source.repeat_interleave(3, dim=0), target_in), **CLOSE)


@pytest.mark.parametrize("length", [1, 3])
def test_after_reorder_a_row_goes_on_from_the_past_of_another(length: int) -> None:
    model = small_transformer()
    source, target_in = padded(random_ids(2, 7), 4, 1), random_ids(6, 6, seed=1)
    cache = start(model, source, rows_per_sentence=3)
    feed(model, cache, target_in[:, :length])
    order = torch.tensor([2, 0, 0, 4, 5, 3])
    cache.reorder(order)
    future = random_ids(6, 6 - length, seed=2)
    history = torch.cat([target_in[order, :length], future], dim=1)
    expected = model(source.repeat_interleave(3, dim=0), history)[:, length:]
    torch.testing.assert_close(feed(model, cache, future), expected, **CLOSE)


@pytest.mark.parametrize("padding", [0, 1])
def test_after_keep_only_the_chosen_sentences_go_on(padding: int) -> None:
    model = small_transformer()
    source, target_in = random_ids(4, 7), random_ids(8, 6, seed=1)
    if padding:
        source[2:, 5:] = model.config.pad_id
    cache = start(model, source, rows_per_sentence=2)
    feed(model, cache, target_in[:, :3])
    cache.keep(torch.tensor([1, 3]))
    assert cache.rows == 4
    rows = torch.tensor([2, 3, 6, 7])
    expected = model(source[[1, 1, 3, 3]], target_in[rows])[:, 3:]
    torch.testing.assert_close(feed(model, cache, target_in[rows, 3:]), expected, **CLOSE)


def test_reorder_and_keep_together() -> None:
    model = small_transformer()
    source, histories = padded(random_ids(3, 7), 4, 1), random_ids(6, 2, seed=1)
    cache = start(model, source, rows_per_sentence=2)
    feed(model, cache, histories)
    sentence = torch.tensor([0, 0, 1, 1, 2, 2])
    for seed, (order, kept) in enumerate(
        [([1, 0, 2, 2, 5, 5], [0, 1, 2]), ([1, 1, 3, 2, 4, 5], [1, 2]), ([0, 0, 3, 3], [1])]
    ):
        cache.reorder(torch.tensor(order))
        cache.keep(torch.tensor(kept))
        rows = torch.tensor([2 * one + row for one in kept for row in range(2)])
        histories, sentence = histories[torch.tensor(order)][rows], sentence[rows]
        next_ids = random_ids(len(rows), 1, seed=2 + seed)
        histories = torch.cat([histories, next_ids], dim=1)
        expected = model(source[sentence], histories)[:, -1:]
        torch.testing.assert_close(feed(model, cache, next_ids), expected, **CLOSE)


def test_recorded_steps_hold_what_the_whole_pass_records() -> None:
    model = small_transformer()
    source, target_in = random_ids(2, 7), random_ids(2, 5, seed=1)
    whole = Recording()
    model.decode(target_in, model.encode(source), source, whole)
    cache, plain_cache = start(model, source), start(model, source)
    for t in range(5):
        step = Recording()
        logits = model.step(target_in[:, t], cache, step)
        assert torch.equal(logits, model.step(target_in[:, t], plain_cache))
        for layer in range(2):
            one, all_ = step.decoder_self[layer], whole.decoder_self[layer]
            torch.testing.assert_close(one.query[:, :, 0], all_.query[:, :, t], **CLOSE)
            torch.testing.assert_close(one.key, all_.key[:, :, : t + 1], **CLOSE)
            torch.testing.assert_close(one.value, all_.value[:, :, : t + 1], **CLOSE)
            one, all_ = step.cross[layer], whole.cross[layer]
            torch.testing.assert_close(one.query[:, :, 0], all_.query[:, :, t], **CLOSE)
            torch.testing.assert_close(one.key, all_.key, **CLOSE)


def test_the_cache_is_allocated_once() -> None:
    model = small_transformer()
    cache = start(model, random_ids(2, 7), rows_per_sentence=2)
    storage = cache.keys.data_ptr()
    feed(model, cache, random_ids(4, 8, seed=1))
    cache.reorder(torch.tensor([1, 0, 2, 2]))
    assert cache.keys.data_ptr() == storage
    assert cache.length == cache.capacity == 8
