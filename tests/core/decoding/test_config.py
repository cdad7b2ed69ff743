from __future__ import annotations

import math
from typing import Any

import pytest

from core.config import ModelConfig
from core.decoding.config import GREEDY, PAPER, SearchConfig
from core.errors import UserError

MODEL = ModelConfig(vocab_size=100)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("beam", {"beam": 0}),
        ("alpha", {"alpha": math.nan}),
        ("penalty", {"penalty": "wu"}),
        ("max_extra", {"max_extra": -1}),
        ("max_length", {"max_length": 0}),
        ("n_best", {"n_best": 2}),
        ("stopping", {"stopping": "early"}),
    ],
)
def test_what_is_not_possible_is_named(field: str, values: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"^{field} = "):
        SearchConfig(**values)


def test_the_output_may_be_fifty_tokens_longer_than_the_input() -> None:
    assert GREEDY.longest_output(7, MODEL) == 57


def test_an_absolute_limit_and_a_learned_table_limit_it_further() -> None:
    assert SearchConfig(max_length=20).longest_output(7, MODEL) == 20
    assert SearchConfig(max_length=90).longest_output(7, MODEL) == 57
    learned = ModelConfig(vocab_size=100, positions="learned", max_positions=30)
    assert GREEDY.longest_output(7, learned) == 30


def test_a_model_may_bring_its_search_along() -> None:
    brought = {"beam": 6, "alpha": 1.0, "penalty": "length", "max_length": 511}
    provenance = {"decoding": brought}
    assert SearchConfig.of_model(provenance) == SearchConfig(**brought)
    assert SearchConfig.of_model(provenance, usual=PAPER) == SearchConfig(**brought)
    chosen = SearchConfig.of_model(provenance, beam=1, alpha=0.0)
    assert chosen == SearchConfig(**(brought | {"beam": 1, "alpha": 0.0}))
    assert SearchConfig.of_model({}) == GREEDY
    assert SearchConfig.of_model({}, alpha=0.1, usual=PAPER) == SearchConfig(beam=4, alpha=0.1)
    with pytest.raises(UserError, match=r"^beam = 0"):
        SearchConfig.of_model({"decoding": {"beam": 0}})
