from __future__ import annotations

import pytest
import torch
from torch import Tensor

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import search, source_batch
from core.decoding.stepper import Stepper
from core.errors import UserError
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer
from tests.core.model.small import random_ids, small_transformer

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
SOURCE = random_ids(6).tolist()
MODEL = small_transformer()
LIMIT = SearchConfig(max_extra=8)


def stepper(model: Transformer = MODEL, config: SearchConfig = LIMIT) -> Stepper:
    return Stepper(model, SOURCE, config=config)


def walk_to_the_end(walk: Stepper) -> Stepper:
    while not walk.finished:
        walk.step()
    return walk


def whole_pass(ids: list[int]) -> tuple[Tensor, Recording]:
    """Log-probabilities [T, V] and the recording of a pass over begin and ids."""
    recording = Recording()
    with torch.no_grad():
        source = source_batch(MODEL, [SOURCE])
        target_in = torch.tensor([[MODEL.config.bos_id, *ids]])
        hidden = MODEL.decode(target_in, MODEL.encode(source, recording), source, recording)
        return MODEL.logits(hidden)[0].log_softmax(dim=-1), recording


def assert_state(walk: Stepper) -> None:
    """The current step is what a whole pass over the prefix computes at its last position."""
    ids = walk.tokens[: walk.position]
    log_probabilities, recording = whole_pass(ids)
    assert walk.current.index == walk.position
    assert walk.current.fed == ([MODEL.config.bos_id, *ids])[-1]
    for candidate in walk.current.candidates:
        expected = log_probabilities[-1, candidate.id].item()
        assert candidate.log_probability == pytest.approx(expected, abs=1e-4)
    for layer in range(MODEL.config.decoder_layers):
        for found, recorded in (
            (walk.self_attention(layer), recording.decoder_self[layer]),
            (walk.cross_attention(layer), recording.cross[layer]),
        ):
            expected = Projections(recorded.query[0, :, -1:], recorded.key[0], recorded.value[0])
            torch.testing.assert_close(found.query, expected.query, **CLOSE)
            torch.testing.assert_close(found.key, expected.key, **CLOSE)
            torch.testing.assert_close(found.value, expected.value, **CLOSE)


def another(walk: Stepper) -> int:
    """A token that is neither the likeliest nor the end."""
    ids = [candidate.id for candidate in walk.current.candidates[1:]]
    return next(id for id in ids if id != MODEL.config.eos_id)


def test_steps_are_greedy_search() -> None:
    walk = walk_to_the_end(stepper())
    (best,) = search(MODEL, [SOURCE], LIMIT)[0]
    assert walk.tokens == [*best.ids, MODEL.config.eos_id]
    likeliest = [step.candidates[0].log_probability for step in walk.steps]
    assert sum(likeliest) == pytest.approx(best.log_probability, abs=1e-4)


def test_every_step_shows_what_a_whole_pass_computes() -> None:
    walk = stepper()
    assert_state(walk)
    for _ in range(4):
        walk.step(another(walk))
        assert_state(walk)
    for position in (2, 0, 3):
        walk.jump(position)
        assert_state(walk)


def test_candidates_are_the_likeliest_in_order_without_begin_and_padding() -> None:
    walk = Stepper(MODEL, SOURCE, candidates=23)
    log_probabilities, _ = whole_pass([])
    log_probabilities = log_probabilities[0]
    log_probabilities[[MODEL.config.pad_id, MODEL.config.bos_id]] = float("-inf")
    expected = log_probabilities.argsort(descending=True)[:21].tolist()
    assert [candidate.id for candidate in walk.current.candidates] == expected


def test_going_back_forgets_nothing_until_another_token_is_chosen() -> None:
    walk = walk_to_the_end(stepper())
    tokens, steps = list(walk.tokens), list(walk.steps)
    walk.jump(1)
    assert not walk.finished
    walk.step()
    walk.step(tokens[2])
    assert walk.position == 3
    assert walk.tokens == tokens
    assert all(one is other for one, other in zip(walk.steps, steps, strict=True))
    walk.back()
    chosen = another(walk)
    walk.step(chosen)
    assert walk.tokens == [*tokens[:2], chosen]
    assert len(walk.steps) == 4
    assert_state(walk)
    walk_to_the_end(walk)
    assert walk.tokens[:3] == [*tokens[:2], chosen]


def test_the_walk_has_two_ends() -> None:
    walk = stepper()
    assert walk.back() is walk.steps[0]
    last = walk.jump(1000)
    assert walk.finished
    assert walk.step() is last
    assert walk.tokens.count(MODEL.config.eos_id) == 1
    walk.jump(-5)
    assert walk.position == 0


def test_the_end_can_be_chosen_at_once_and_taken_back() -> None:
    walk = stepper()
    walk.step(MODEL.config.eos_id)
    assert walk.finished
    assert (walk.position, len(walk.steps)) == (0, 1)
    walk.step(another(walk))
    assert not walk.finished
    assert walk.position == 1
    assert_state(walk)


def test_where_there_is_no_room_only_the_end_comes_next() -> None:
    walk = stepper(config=SearchConfig(max_length=3))
    ordinary = another(walk)
    walk.step(ordinary)
    walk.step(ordinary)
    assert [candidate.id for candidate in walk.current.candidates] == [MODEL.config.eos_id]
    with pytest.raises(UserError, match="end token"):
        walk.step(ordinary)
    walk.step()
    assert walk.finished


@pytest.mark.parametrize("token", [-1, 0, 2, 23])
def test_a_token_that_cannot_come_next_is_refused(token: int) -> None:
    walk = stepper(config=GREEDY)
    with pytest.raises(UserError, match=f"token = {token} "):
        walk.step(token)
    assert walk.tokens == []
