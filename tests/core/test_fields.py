from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from core.errors import UserError
from core.fields import from_mapping


@dataclass(frozen=True, kw_only=True)
class Example:
    names: tuple[str, ...] = ()
    rates: tuple[float, ...] | None = None
    limit: float | None = None
    marks: tuple[int, ...] = field(default_factory=tuple)


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: tuple[Example, ...]


def test_lists_become_tuples_with_their_elements_coerced() -> None:
    example = from_mapping(Example, {"names": ["a", "b"], "rates": [1, 0.5], "limit": 3})
    assert example == Example(names=("a", "b"), rates=(1.0, 0.5), limit=3.0)
    assert example.rates is not None
    assert isinstance(example.rates[0], float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"names": "ab"}, "names = 'ab' is not possible; allowed: a list"),
        ({"names": ["a", 1]}, "names = 1 is not possible; allowed: a text"),
        ({"rates": [True]}, "rates = True is not possible; allowed: a number"),
        ({"rates": 1.0}, "rates = 1.0 is not possible; allowed: a list or null"),
        ({"limit": "1"}, "limit = '1' is not possible; allowed: a number or null"),
        ({"limit": float("inf")}, "limit = inf is not possible; allowed: a finite number"),
        ({"limit": float("nan")}, "limit = nan is not possible; allowed: a finite number"),
        ({"limit": 10**400}, "limit = 10+ is not possible; allowed: a whole number of at most 9,0"),
        ({"rates": [-(10**20)]}, "rates = -10+ is not possible; allowed: a whole number of at mo"),
        ({"marks": [2**53 + 1]}, "is not possible; allowed: a whole number of at most 9,007,199,"),
        ({"name": []}, "Example has no setting 'name'; it has: limit, marks, names, rates"),
    ],
    ids=str,
)
def test_other_values_are_errors(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        from_mapping(Example, values)


def test_a_configuration_can_hold_others() -> None:
    assert from_mapping(Outer, {"inner": [{"limit": 2}, {}]}) == Outer(
        inner=(Example(limit=2.0), Example())
    )
    with pytest.raises(UserError, match="Example has no setting 'other'"):
        from_mapping(Outer, {"inner": [{"other": 2}]})
    with pytest.raises(UserError, match="inner = 3 is not possible; allowed: an object"):
        from_mapping(Outer, {"inner": [3]})


def test_a_default_factory_makes_a_field_optional() -> None:
    assert from_mapping(Example, {}) == Example()
