"""Writes safetensors files whose bytes follow from their content, with a checksum inside.

The safetensors library writes metadata in the order of a hash table that differs between
processes, so the same model gave different files. Here the header is sorted: tensors by the size
of their numbers and then by name, which keeps each aligned, metadata by key. The metadata's
``checksum`` is the SHA-256 of all the rest: the header without that entry, then the numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.checkpoints.header import CHECKSUM, split_header
from core.errors import UserError
from core.files import atomic_write, read_problem

_METADATA = "__metadata__"
_ALIGNMENT = 8
_BLOCK = 1 << 20
_DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def write_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]
) -> None:
    """Write one safetensors file, atomically.

    Raises:
        UserError: it cannot be written; what stood there before stays.
    """
    names = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    header: dict[str, Any] = {_METADATA: dict(metadata)}
    end = 0
    for name in names:
        start, end = end, end + tensors[name].nbytes
        header[name] = {
            "dtype": _DTYPES[tensors[name].dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [start, end],
        }
    header[_METADATA][CHECKSUM] = _checksum(header, (_bytes(tensors[name]) for name in names))
    block = _canonical(header)
    block += b" " * (-len(block) % _ALIGNMENT)

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            file.write(len(block).to_bytes(8, "little") + block)
            for name in names:
                file.write(_bytes(tensors[name]))

    atomic_write(path, write)


def require_intact(path: Path) -> None:
    """Compare the file with its own checksum; a file without a checksum is accepted.

    Raises:
        UserError: the file cannot be read, is no safetensors file, or has changed since it was
            written.
    """
    block, data_size = split_header(path)
    try:
        header = json.loads(block)
        stored = header[_METADATA].pop(CHECKSUM, None)
    except (ValueError, KeyError, AttributeError, RecursionError):
        return  # it says nothing of itself; whoever reads it further says what is wrong
    try:
        if stored is not None and stored != _checksum(header, _data(path, data_size)):
            raise UserError(
                f"{path} has changed since it was written: its checksum does not match, so its "
                "numbers cannot be trusted. Restore it from a copy; if it was edited on "
                f"purpose, remove {CHECKSUM!r} from its metadata."
            )
    except OSError as error:
        raise UserError(read_problem(path, error)) from error


def _data(path: Path, size: int) -> Iterable[bytes]:
    with path.open("rb") as file:
        file.seek(-size, 2)
        while block := file.read(_BLOCK):
            yield block


def _checksum(header: Mapping[str, Any], blocks: Iterable[Any]) -> str:
    digest = hashlib.sha256(_canonical(header))
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _canonical(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode("ascii")


def _bytes(tensor: Tensor) -> memoryview:
    """The numbers of a tensor on the CPU, without a copy where they are contiguous."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().data
