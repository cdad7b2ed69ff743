"""Lines of JSON that come from outside: each is of the expected form, or it is none."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

LineCheck: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""Whether a JSON object is a line of a certain file."""
_MOST = 2**53  # beyond it JSON numbers are no longer exact


def parse_line(line: bytes | str, check: LineCheck) -> dict[str, Any] | None:
    """Return the JSON object of one line, or None if ``check`` does not accept it.

    Every line of a run has a ``step``, 0 or more.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    step: Any = value.get("step")
    return value if fits(step, int) and step >= 0 and check(value) else None


def fits_class(value: Mapping[str, Any], cls: type) -> bool:
    """Return whether the object has the fields of a dataclass, each with its type.

    A field with a default may be missing, and so may one that can be None.
    """
    hints = hints_of(cls)
    return all(
        fits(value.get(field.name), hints[field.name])
        or (value.get(field.name) is None and field.default is not dataclasses.MISSING)
        for field in dataclasses.fields(cls)
    )


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the type of each field of a dataclass."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def fits(value: Any, hint: Any) -> bool:
    """Return whether a JSON value is of this type; numbers must be finite and whole ones exact."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return any(fits(value, option) for option in typing.get_args(hint))
    if origin is list:
        (element,) = typing.get_args(hint)
        return isinstance(value, list) and all(fits(one, element) for one in value)
    if hint is float and isinstance(value, float):
        return math.isfinite(value)
    if hint in (int, float):
        return type(value) is int and abs(value) < _MOST
    return type(value) is hint
