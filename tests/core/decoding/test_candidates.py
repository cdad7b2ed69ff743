from __future__ import annotations

import pytest
import torch

from core.decoding import candidates as module
from core.decoding.candidates import Candidate, step_candidates
from core.decoding.config import SearchConfig
from core.decoding.search import source_batch
from core.decoding.stepper import Stepper
from core.model.transformer import Transformer
from tests.core.model.small import random_ids, small_transformer

MODEL = small_transformer(seed=4)
END = MODEL.config.eos_id
SOURCE = random_ids(6).tolist()
TARGET = [*random_ids(5, seed=1).tolist(), END]
LIMIT = SearchConfig(max_extra=8)


def whole_pass(model: Transformer) -> torch.Tensor:
    """Log-probabilities [T, V] at each step of the target."""
    with torch.no_grad():
        source = source_batch(model, [SOURCE])
        fed = torch.tensor([[model.config.bos_id, *TARGET[:-1]]])
        return model(source, fed)[0].log_softmax(dim=-1)


def test_they_are_the_likeliest_of_a_whole_pass_without_begin_and_padding() -> None:
    expected = whole_pass(MODEL)
    expected[:, [MODEL.config.bos_id, MODEL.config.pad_id]] = float("-inf")
    best, ids = expected.topk(8)
    found = step_candidates(MODEL, SOURCE, TARGET)
    assert [[one.id for one in step] for step in found] == ids.tolist()
    for step, values in zip(found, best.tolist(), strict=True):
        assert [one.log_probability for one in step] == pytest.approx(values, abs=1e-5)


def test_they_are_those_of_a_walk_step_by_step() -> None:
    walk = Stepper(MODEL, SOURCE, config=LIMIT)
    for token, found in zip(
        TARGET, step_candidates(MODEL, SOURCE, TARGET, config=LIMIT), strict=True
    ):
        assert [one.id for one in found] == [one.id for one in walk.current.candidates]
        for one, other in zip(found, walk.current.candidates, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
        walk.step(token)


def test_where_there_is_no_room_the_end_is_the_only_candidate() -> None:
    found = step_candidates(MODEL, SOURCE, TARGET[:3], config=SearchConfig(max_length=3))
    assert [len(step) for step in found] == [8, 8, 1]
    (last,) = found[-1]
    assert last == Candidate(END, pytest.approx(whole_pass(MODEL)[2, END].item(), abs=1e-5))


def test_blocks_of_positions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = step_candidates(MODEL, SOURCE, TARGET, count=3)
    monkeypatch.setattr(module, "_LOGIT_ROWS", 2)
    checks: list[None] = []
    parts = step_candidates(MODEL, SOURCE, TARGET, count=3, check=lambda: checks.append(None))
    assert [[one.id for one in step] for step in parts] == [
        [one.id for one in step] for step in whole
    ]
    for part, step in zip(parts, whole, strict=True):
        # Products of other shapes may round otherwise.
        expected = [one.log_probability for one in step]
        assert [one.log_probability for one in part] == pytest.approx(expected, abs=1e-5)
    assert len(checks) == 3
