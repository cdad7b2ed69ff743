"""Tensors by name out of foreign weight files; nothing in a file is ever executed."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import safetensors
import torch
from torch import Tensor

from core.checkpoints.settings import read_settings, require_content, unreadable
from core.errors import UserError
from core.files import is_there


class Weights(Protocol):
    """The tensors of one or more files, each of which is taken once, so that it is in memory
    once."""

    @property
    def names(self) -> frozenset[str]: ...

    def shape(self, name: str) -> Sequence[int]:
        """Return the shape of what ``take`` will return."""
        ...

    def take(self, name: str) -> Tensor:
        """Return a tensor in float32, in memory of its own.

        Raises:
            UserError: it cannot be read, or does not hold floating-point numbers.
        """
        ...


class SafetensorsWeights:
    """A `.safetensors` file."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            UserError: the file is missing, unreadable, truncated or something else.
        """
        require_content(path)
        self._path = path
        try:
            with safetensors.safe_open(path, framework="pt") as file:
                self._shapes: dict[str, list[int]] = {
                    name: file.get_slice(name).get_shape() for name in list(file.keys())
                }
        except (safetensors.SafetensorError, OSError) as error:
            raise _unreadable(path, error) from error
        self.names = frozenset(self._shapes)

    def shape(self, name: str) -> Sequence[int]:
        return self._shapes[name]

    def take(self, name: str) -> Tensor:
        try:
            # Opened for each, or what was read of the mapped file would stay in memory as well.
            with safetensors.safe_open(self._path, framework="pt") as file:
                return _floats(file.get_tensor(name), name, self._path, copy=True)
        except (safetensors.SafetensorError, OSError) as error:
            raise _unreadable(self._path, error) from error


class TorchWeights:
    """A dictionary of tensors written by ``torch.save``, read with ``weights_only``."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            UserError: as ``SafetensorsWeights``, or the file holds more than tensors.
        """
        require_content(path)
        self._path = path
        try:
            _require_stored(path)
            stored = torch.load(path, map_location="cpu", weights_only=True)
        except OSError as error:
            raise _unreadable(path, error) from error
        except Exception as error:  # of many kinds, as the reader meets whatever bytes there are
            raise UserError(
                f"{path} is damaged, or contains code as well as numbers, which is never run "
                "here; copy it again, or get the model as .safetensors."
            ) from error
        if not isinstance(stored, dict) or not all(
            isinstance(name, str) and _is_plain(one) for name, one in stored.items()
        ):
            raise UserError(
                f"{path} does not contain named tensors, so it is not a model's weights; choose "
                "another file."
            )
        if any(one.nbytes > one.untyped_storage().nbytes() for one in stored.values()):
            raise _damaged(path)  # one number, given out for many
        self._tensors: dict[str, Tensor] = dict(stored)
        self.names = frozenset(self._tensors)

    def shape(self, name: str) -> Sequence[int]:
        return self._tensors[name].shape

    def take(self, name: str) -> Tensor:
        return _floats(self._tensors.pop(name), name, self._path)


class ShardedWeights:
    """Several files, as transformers splits a large model, with an index that names them."""

    def __init__(self, index: Path, read: Callable[[Path], Weights]) -> None:
        """
        Args:
            read: opens one of the files.

        Raises:
            UserError: as of one file, or the index is damaged, or two files have the same tensor.
        """
        named = read_settings(index).values.get("weight_map")
        files = named.values() if isinstance(named, dict) else ()
        if not files or not all(isinstance(one, str) and Path(one).name == one for one in files):
            raise UserError(f"{index} does not name the files of the weights; it is damaged.")
        self._files: dict[str, Weights] = {}
        for file in sorted(set(files)):
            weights = read(index.parent / file)
            if twice := sorted(weights.names & self._files.keys()):
                raise UserError(
                    f"{index.parent / file} has {twice[0]}, which another file of the model has "
                    "too; the files belong to different models."
                )
            self._files |= dict.fromkeys(weights.names, weights)
        self.names = frozenset(self._files)

    def shape(self, name: str) -> Sequence[int]:
        return self._files[name].shape(name)

    def take(self, name: str) -> Tensor:
        return self._files[name].take(name)


def _floats(tensor: Tensor, name: str, path: Path, copy: bool = False) -> Tensor:
    if not tensor.is_floating_point():
        kind = str(tensor.dtype).removeprefix("torch.")
        raise UserError(
            f"{path}: {name} has type {kind}, but quantised models cannot be opened; get the "
            "unquantised model."
        )
    return tensor.to(torch.float32, copy=copy).contiguous()


def _is_plain(one: object) -> bool:
    """A tensor whose numbers all lie in memory; one that is sparse, nested or only a shape has no
    storage to look at."""
    return (
        isinstance(one, Tensor)
        and one.layout is torch.strided
        and one.device.type == "cpu"
        and not one.is_nested
    )


def _require_stored(path: Path) -> None:
    """Raises ValueError for a compressed archive, which could hold any amount of numbers; what
    ``torch.save`` writes is not compressed."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if any(one.compress_type != zipfile.ZIP_STORED for one in archive.infolist()):
                raise ValueError("compressed")


def _unreadable(path: Path, error: Exception) -> UserError:
    # Of a file that may not be read safetensors says that it does not exist.
    if isinstance(error, FileNotFoundError) and is_there(path):
        error = PermissionError()
    if isinstance(error, OSError):
        return unreadable(path, error)
    return _damaged(path)


def _damaged(path: Path) -> UserError:
    return UserError(f"{path} is truncated or damaged; copy or download it again.")
