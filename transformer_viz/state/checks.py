"""Checks of values read from JSON: each returns the value in its proper type, or raises
ValueError with what is allowed."""

from collections.abc import Callable, Container
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

Check = Callable[[Any], T]


def string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def one_of(choices: type[E]) -> Check[E]:
    def check(value: Any) -> E:
        if not isinstance(value, str) or value not in set(choices):
            raise ValueError(" or ".join(choices))
        return choices(value)

    return check


def whole(low: int, high: int) -> Check[int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return check


def number(low: float, high: float) -> Check[float]:
    def check(value: Any) -> float:
        proper = isinstance(value, int | float) and not isinstance(value, bool)
        if not proper or not low <= value <= high:  # NaN fails too
            raise ValueError(f"a number from {low:g} to {high:g}")
        return float(value)

    return check


def optional(check: Check[T]) -> Check[T | None]:
    return lambda value: None if value is None else check(value)


def sequence(item: Check[T], counts: Container[int]) -> Check[tuple[T, ...]]:
    """A list, of one of the `counts`, as a tuple."""

    def check(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) not in counts:
            raise ValueError("a list of the right length")
        return tuple(item(each) for each in value)

    return check


def record(kind: type[T], **special: Check[Any]) -> Check[T]:
    """An object as a dataclass. Fields are checked by their type, or by a `special` check.

    A field that is missing keeps its default, where it has one. The error names the field.
    """
    checks = record_checks(kind, **special)

    def check(value: Any) -> T:
        if not isinstance(value, dict):
            raise ValueError("an object")
        unknown = set(value) - set(checks)
        if unknown:
            raise ValueError(f"no field {min(unknown)!r}")
        good = {}
        for name, each in value.items():
            try:
                good[name] = checks[name](each)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        try:
            return kind(**good)
        except TypeError:
            raise ValueError("an object with all its fields") from None

    return check


def record_checks(kind: type[Any], **special: Check[Any]) -> dict[str, Check[Any]]:
    """The check of each field of a dataclass: by its type, or a `special` one."""
    hints = get_type_hints(kind)
    names = (field.name for field in fields(kind))
    return {name: special.get(name) or of_type(hints[name]) for name in names}


def of_type(hint: Any) -> Check[Any]:
    """The check for a field's annotation; whole numbers count from 0."""
    arguments = get_args(hint)
    if NoneType in arguments:
        (some,) = (argument for argument in arguments if argument is not NoneType)
        return optional(of_type(some))
    if get_origin(hint) is tuple:
        repeated = arguments[-1] is Ellipsis
        count = range(MOST_ITEMS) if repeated else [len(arguments)]
        return sequence(of_type(arguments[0]), count)
    if is_dataclass(hint):
        return record(hint)  # type: ignore[arg-type]
    if issubclass(hint, StrEnum):
        return one_of(hint)
    return _PLAIN[hint]


MOST_ITEMS = 100_000
_PLAIN: dict[type, Check[Any]] = {
    str: string,
    bool: boolean,
    int: whole(0, 2**31),
    float: number(-1e9, 1e9),
}
