from __future__ import annotations

import pytest

from core.counted import counted


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 tokens"), (1, "1 token"), (2, "2 tokens"), (1500, "1,500 tokens")]
)
def test_a_number_has_its_noun(number: int, text: str) -> None:
    assert counted(number, "token") == text
