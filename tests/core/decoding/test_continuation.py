from __future__ import annotations

import pytest
import torch

from core.decoding.config import SearchConfig
from core.decoding.continuation import continue_greedily
from core.decoding.search import search
from core.errors import UserError
from tests.core.model.small import random_ids, small_transformer

MODEL = small_transformer(seed=4)
END = MODEL.config.eos_id
SOURCE = random_ids(6).tolist()
LIMIT = SearchConfig(max_extra=4)


def test_from_nothing_it_is_greedy_search() -> None:
    (best,) = search(MODEL, [SOURCE], LIMIT)[0]
    assert continue_greedily(MODEL, SOURCE, (), config=LIMIT) == (*best.ids, END)


def test_each_further_token_is_the_likeliest_after_those_before() -> None:
    prefix = (9, 17, 9)
    found = continue_greedily(MODEL, SOURCE, prefix, config=LIMIT)
    assert found[:3] == prefix
    assert found[-1] == END
    with torch.no_grad():
        fed = torch.tensor([[MODEL.config.bos_id, *found[:-1]]])
        logits = MODEL(torch.tensor([[*SOURCE, END]]), fed)[0]
    logits[:, [MODEL.config.bos_id, MODEL.config.pad_id]] = float("-inf")
    free = slice(3, len(SOURCE) + 1 + 4 - 1)  # the last place is for the end token alone
    assert logits.argmax(dim=-1)[free].tolist() == list(found)[free]


def test_a_prefix_that_has_ended_is_whole() -> None:
    assert continue_greedily(MODEL, SOURCE, (9, END)) == (9, END)


@pytest.mark.parametrize(("length", "fits"), [(2, True), (3, False), (4, False)])
def test_a_prefix_must_leave_room_for_the_end(length: int, fits: bool) -> None:
    config = SearchConfig(max_length=3)
    if fits:
        assert continue_greedily(MODEL, SOURCE, (9,) * length, config=config) == (9, 9, END)
    else:
        with pytest.raises(UserError, match=f"3 tokens.*has {length}"):
            continue_greedily(MODEL, SOURCE, (9,) * length, config=config)


def test_a_check_stops_it() -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        continue_greedily(MODEL, SOURCE, (), check=stop)
