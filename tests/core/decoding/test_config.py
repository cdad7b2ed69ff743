from __future__ import annotations

import math
from typing import Any

import pytest

from core.config import ModelConfig
from core.decoding.config import GREEDY, SearchConfig
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
