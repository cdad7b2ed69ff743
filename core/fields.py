"""Checks for configuration dataclasses: each error names field, value and what is allowed."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from core.errors import UserError

T = TypeVar("T")
LARGEST_WHOLE = 2**53  # JSON's numbers are exact up to there

_IN_WORDS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    tuple: "a list",
    types.NoneType: "null",
}


def require(condition: bool, field: str, value: object, allowed: str) -> None:
    """Raise a UserError that names the field unless the condition holds."""
    if not condition:
        raise UserError(f"{field} = {value!r} is not possible; allowed: {allowed}.")


def require_choice(field: str, value: object, choices: Iterable[str]) -> None:
    names = tuple(choices)
    require(value in names, field, value, ", ".join(names))


def require_share(field: str, value: float) -> None:
    """A probability that leaves something: 0 ≤ value < 1."""
    require(0.0 <= value < 1.0, field, value, "0 or more, below 1")


def from_mapping(cls: type[T], values: Mapping[str, Any]) -> T:
    """Build a configuration dataclass from JSON values; unknown keys and wrong types are errors."""
    assert dataclasses.is_dataclass(cls)
    types_of = typing.get_type_hints(cls)
    names = {field.name for field in dataclasses.fields(cls)}
    unknown = sorted(set(values) - names)
    if unknown:
        raise UserError(
            f"{cls.__name__} has no setting {unknown[0]!r}; it has: {', '.join(sorted(names))}."
        )
    required = {
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    missing = sorted(required - set(values))
    if missing:
        raise UserError(f"{cls.__name__} needs the setting {missing[0]!r}, which is missing.")
    return cls(**{name: _coerce(name, value, types_of[name]) for name, value in values.items()})


def _coerce(name: str, value: Any, expected: Any) -> Any:
    """Accept an int where a float is asked for, a list where a tuple is, and a mapping where a
    configuration is; refuse the rest."""
    options = (
        typing.get_args(expected)
        if typing.get_origin(expected) in (types.UnionType, typing.Union)
        else (expected,)
    )
    for option in options:
        if typing.get_origin(option) is tuple and isinstance(value, list | tuple):
            element = typing.get_args(option)[0]
            return tuple(_coerce(name, item, element) for item in value)
        is_configuration = isinstance(option, type) and dataclasses.is_dataclass(option)
        if is_configuration and isinstance(value, Mapping):
            return from_mapping(option, value)
        if option in (int, float) and type(value) in (int, option):
            _require_size(name, value)
        if option is float and type(value) is int:
            return float(value)
        if type(value) is option:
            return value
    kinds = [typing.get_origin(option) or option for option in options]
    allowed = " or ".join(_IN_WORDS.get(kind, "an object") for kind in kinds)
    raise UserError(f"{name} = {value!r} is not possible; allowed: {allowed}.")


def _require_size(name: str, value: float) -> None:
    """Raise a UserError for infinity, for what is no number, and for a whole number without use."""
    if isinstance(value, float):
        require(math.isfinite(value), name, value, "a finite number")
    else:
        most = f"a whole number of at most {LARGEST_WHOLE:,}"
        require(abs(value) <= LARGEST_WHOLE, name, value, most)
