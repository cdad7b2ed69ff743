"""The same weights in the MarianMTModel of `transformers`: the same logits, the same outputs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import search, source_batch
from core.model.transformer import Transformer
from tests.benchmarks.marian import marian_twin
from tests.core.model.small import random_ids, small_transformer

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def model() -> Transformer:
    """By beam search its outputs end after 4 to 7 tokens; greedy search goes round in circles."""
    model = small_transformer(seed=9, output_bias=True, activation="silu")
    config = model.config
    assert model.output_bias is not None
    with torch.no_grad():
        model.source_embedding.weight.mul_(5.0)
        model.output_bias[[config.pad_id, config.bos_id]] = -1e4
        model.output_bias[config.eos_id] = 4.0
    return model


@pytest.fixture(scope="module")
def twin(model: Transformer) -> Any:
    return marian_twin(model)


SOURCES = [random_ids(3 + number % 7, seed=number).tolist() for number in range(12)]


def test_logits(model: Transformer, twin: Any) -> None:
    source, target_in = source_batch(model, SOURCES), random_ids(len(SOURCES), 5, seed=1)
    with torch.no_grad():
        expected = twin(
            input_ids=source,
            attention_mask=(source != model.config.pad_id).long(),
            decoder_input_ids=target_in,
        ).logits
        torch.testing.assert_close(model(source, target_in), expected, atol=1e-4, rtol=1e-4)


def generated(twin: Any, source: torch.Tensor, **settings: Any) -> list[list[int]]:
    """Without the begin token, the end token and what follows it."""
    output = twin.generate(
        source, attention_mask=(source != twin.config.pad_token_id).long(), **settings
    )
    end = twin.config.eos_token_id
    return [row[1 : row.index(end) if end in row else None] for row in output.tolist()]


def test_greedy_search(model: Transformer, twin: Any) -> None:
    expected = generated(twin, source_batch(model, SOURCES), max_new_tokens=20)
    for (best,), ids in zip(search(model, SOURCES, GREEDY), expected, strict=True):
        assert list(best.ids[:20]) == ids


def test_beam_search(model: Transformer, twin: Any) -> None:
    config, limit = SearchConfig(beam=4, penalty="length"), 60
    expected = generated(
        twin,
        source_batch(model, SOURCES),
        max_new_tokens=limit,
        num_beams=4,
        length_penalty=config.alpha,
        early_stopping="never",
    )
    pairs = list(zip(search(model, SOURCES, config), expected, strict=True))
    # At the limit the peer lets hypotheses win that never ended.
    ended = [(best, ids) for (best, *_), ids in pairs if len(ids) < limit]
    assert len(ended) >= 10
    assert len({len(ids) for _, ids in ended}) >= 3
    for best, ids in ended:
        assert list(best.ids) == ids
