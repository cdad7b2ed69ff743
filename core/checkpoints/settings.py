"""What a JSON file of a foreign model says, each value checked as it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from core.errors import UserError

T = TypeVar("T")
_IN_WORDS: dict[type, str] = {int: "a whole number", float: "a number", str: "a text"}


class Settings:
    """The object of one file; a value that is missing or of another type is the file's error."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self.path = path
        self.values = values

    def whole(self, name: str) -> int:
        return self._require(name, int)

    def text(self, name: str) -> str:
        return self._require(name, str)

    def number(self, name: str, default: float) -> float:
        value = self.values.get(name)
        if value is None:
            return default
        return float(value) if type(value) is int else self._require(name, float)

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name)
        return default if value is None else bool(value)

    def _require(self, name: str, kind: type[T]) -> T:
        if name not in self.values:
            raise UserError(f"{self.path} does not say {name}, which is needed to open the model.")
        value = self.values[name]
        if type(value) is not kind:
            raise UserError(f"{self.path} says {name} = {value!r}, which is not {_IN_WORDS[kind]}.")
        return value


def read_settings(path: Path) -> Settings:
    """
    Raises:
        UserError: the file is missing or unreadable, or does not hold a JSON object.
    """
    try:
        values = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON; the file is damaged.") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} does not hold a JSON object; the file is damaged.")
    return Settings(path, values)


def read_bytes(path: Path) -> bytes:
    """
    Raises:
        UserError: the file is missing or unreadable.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(
            f"{path.parent} has no {path.name}, so the model cannot be opened; copy the whole "
            "folder again."
        ) from error
    except PermissionError as error:
        raise UserError(f"{path} may not be read; change its permissions.") from error
    except OSError as error:
        raise UserError(f"Could not read {path}: {error.strerror or error}.") from error
