from __future__ import annotations

import math

import pytest
import torch

from core.decoding import scoring
from core.decoding.scoring import perplexity, score_targets, token_log_probabilities
from tests.core.model.small import random_ids, small_transformer

MODEL = small_transformer()
SOURCES = [random_ids(length, seed=length).tolist() for length in (3, 9, 1, 6)]
TARGETS = [random_ids(length, seed=50 + length).tolist() for length in (5, 2, 0, 7)]


def by_whole_pass(source: list[int], target: list[int]) -> torch.Tensor:
    config = MODEL.config
    with torch.no_grad():
        logits = MODEL(
            torch.tensor([[*source, config.eos_id]]), torch.tensor([[config.bos_id, *target]])
        )
    predicted = torch.tensor([*target, config.eos_id])
    return logits[0].log_softmax(dim=-1)[torch.arange(len(predicted)), predicted]


@pytest.mark.parametrize("batch_tokens", [1, 20, 8192])
def test_each_token_and_the_end_in_any_batch(batch_tokens: int) -> None:
    scored = score_targets(MODEL, SOURCES, TARGETS, batch_tokens=batch_tokens)
    for source, target, log_probabilities in zip(SOURCES, TARGETS, scored, strict=True):
        assert log_probabilities.shape == (len(target) + 1,)
        torch.testing.assert_close(log_probabilities, by_whole_pass(source, target))


@pytest.mark.parametrize("rows", [1, 3, 8, 9])
def test_logits_in_parts_are_the_same(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden, tokens = torch.randn(9, 12), random_ids(8).tolist()
    with torch.no_grad():
        whole = token_log_probabilities(MODEL, hidden, tokens)
        monkeypatch.setattr(scoring, "_LOGIT_ROWS", rows)
        torch.testing.assert_close(token_log_probabilities(MODEL, hidden, tokens), whole)
    assert whole.shape == (8,)


def test_sources_and_targets_belong_together() -> None:
    with pytest.raises(ValueError, match="zip"):
        score_targets(MODEL, SOURCES, TARGETS[1:])


def test_perplexity_of_a_fair_die_is_its_sides() -> None:
    die = torch.full((5,), -math.log(6))
    assert perplexity([die, die[:2]]) == pytest.approx(6.0)
    assert perplexity([torch.tensor([math.log(0.5)]), torch.zeros(3)]) == pytest.approx(2**0.25)
    assert math.isnan(perplexity([]))
