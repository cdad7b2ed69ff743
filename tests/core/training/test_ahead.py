from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from core.text.sentence_pieces import train_tokenizer
from core.training.ahead import Ahead, Make
from core.training.config import TrainingConfig
from core.training.generation import generated_epoch
from core.training.pairs import EncodedPair


@pytest.fixture(scope="module")
def make() -> Make:
    tokenizer = train_tokenizer(["The dog saw it.", "Der Hund sah es.", "abcdefghijklmnopqr"], 80)
    return partial(
        generated_epoch,
        tokenizer=tokenizer,
        config=TrainingConfig(grammar_pairs=20, seed=5, gloss_weight=1.0, max_length=200),
    )


@pytest.fixture
def ahead(make: Make) -> Iterator[Ahead]:
    result = Ahead(make)
    yield result
    result.close()


def now(make: Make, epoch: int) -> list[EncodedPair]:
    return list(make(epoch))


def test_what_was_made_ahead_is_what_would_be_made_now(ahead: Ahead, make: Make) -> None:
    ahead.request(1)
    ahead.request(7)  # one at a time
    assert list(ahead.epoch(0)) == now(make, 0)
    assert list(ahead.epoch(1)) == now(make, 1) != now(make, 2)
    ahead.request(2)
    assert list(ahead.epoch(2)) == now(make, 2)


def test_a_dead_process_is_done_without_and_replaced(ahead: Ahead, make: Make) -> None:
    ahead.request(0)
    first = ahead.process
    assert first is not None
    first.kill()
    first.join()
    assert list(ahead.epoch(0)) == now(make, 0)
    ahead.request(1)
    assert ahead.process not in (None, first)
    assert list(ahead.epoch(1)) == now(make, 1)


def test_closing_ends_the_process(ahead: Ahead) -> None:
    ahead.request(0)
    process = ahead.process
    assert process is not None
    ahead.close()
    assert process.exitcode is not None
    ahead.close()  # twice is harmless
