"""The tensors of a safetensors file, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import safetensors
from torch import Tensor

from core.errors import UserError


class StoredTensors(Mapping[str, Tensor]):
    """The tensors of a file by name. None of them stays in memory, except for mapped pages while
    the file is open."""

    def __init__(self, path: str | Path) -> None:
        """
        Raises:
            UserError: the file is truncated or damaged; when a tensor is read, too.
        """
        self._path = path
        self._names: list[str] = self._read(lambda file: list(file.keys()))

    def without(self, prefix: str) -> StoredTensors:
        """Return the tensors whose names do not begin with a prefix."""
        rest = StoredTensors(self._path)
        rest._names = [name for name in self._names if not name.startswith(prefix)]
        return rest

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._names:
            raise KeyError(name)
        tensor: Tensor = self._read(lambda file: file.get_tensor(name))
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _read(self, part: Callable[[Any], Any]) -> Any:
        try:
            with safetensors.safe_open(self._path, framework="pt") as file:
                return part(file)
        except (safetensors.SafetensorError, OSError) as error:
            raise UserError(
                f"{self._path} is truncated or damaged; copy or download it again."
            ) from error
