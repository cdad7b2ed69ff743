"""What the files of a foreign model say: bytes, and JSON of which each value is checked as it is
read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from core.errors import UserError
from core.files import open_regular, read_problem, read_regular

T = TypeVar("T")
_MOST_BYTES = 200_000_000  # of a vocabulary or a configuration
_POINTER = b"version https://git-lfs.github.com/spec/"
_IN_WORDS: dict[type, str] = {int: "a whole number", float: "a number", str: "a text"}


class Settings:
    """The JSON object of one file; a missing value or one of another type raises an error on the
    file."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self.path = path
        self.values = values

    def whole(self, name: str) -> int:
        return self._require(name, int)

    def count(self, name: str, default: int) -> int:
        """Return a whole number of 1 or more."""
        if self.values.get(name) is None:
            return default
        count = self.whole(name)
        if count < 1:
            raise UserError(
                f"{self.path} says {name} = {count}, which is not possible; the file is damaged."
            )
        return count

    def text(self, name: str) -> str:
        return self._require(name, str)

    def number(self, name: str, default: float) -> float:
        value = self.values.get(name)
        if value is None:
            return default
        value = float(value) if type(value) is int else self._require(name, float)
        if not math.isfinite(value):
            raise UserError(
                f"{self.path} says {name} = {value}, which is not possible; the file is damaged."
            )
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name)
        return default if value is None else bool(value)

    def _require(self, name: str, kind: type[T]) -> T:
        if name not in self.values:
            raise UserError(
                f"{self.path} does not state {name}, which is needed to open the model; copy the "
                "file again."
            )
        value = self.values[name]
        if type(value) is not kind:
            raise UserError(
                f"{self.path} says {name} = {value!r}, which is not {_IN_WORDS[kind]}; the file "
                "is damaged."
            )
        return value


def read_settings(path: Path) -> Settings:
    """Read the JSON object of a file.

    Raises:
        UserError: the file is missing or unreadable, or does not hold a JSON object.
    """
    try:
        values = json.loads(read_bytes(path), parse_constant=_refuse)  # NaN and Infinity
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON; the file is damaged.") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} does not contain a JSON object; the file is damaged.")
    return Settings(path, values)


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def read_bytes(path: Path) -> bytes:
    """Read a file of a model's folder.

    Raises:
        UserError: the file is missing or unreadable, or its content has not been fetched.
    """
    require_content(path)
    return read_regular(path, most=_MOST_BYTES)


def require_content(path: Path) -> None:
    """Check that a file can be read and has its content.

    Raises:
        UserError: the file is missing or unreadable, is something that would be waited for, such
            as a pipe, or stands for a content that Git LFS has not fetched.
    """
    try:
        with open_regular(path) as file:
            start = file.read(len(_POINTER))
    except UserError as error:
        if isinstance(error.__cause__, OSError):
            raise unreadable(path, error.__cause__) from error
        raise
    if start == _POINTER:
        raise UserError(
            f"{path} is only a Git LFS pointer; fetch the content with “git lfs pull”, or "
            "download the file."
        )


def unreadable(path: Path, error: OSError) -> UserError:
    """Return the error for an unreadable file in a model's folder."""
    if isinstance(error, FileNotFoundError):
        return UserError(
            f"{path.parent} has no {path.name}, so the model cannot be opened; copy the whole "
            "folder again."
        )
    return UserError(read_problem(path, error))
