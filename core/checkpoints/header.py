"""The layout of a checkpoint: one `.safetensors` file, read here without torch.

Tensors are the model's parameters by name, a shared one once, and ``tokenizer``, the SentencePiece
model as bytes; of a Marian model's tokenizer, ``tokenizer.source``, ``tokenizer.target`` and
``tokenizer.vocabulary``. The metadata says ``format``, ``format_version``, ``config`` and
``provenance`` (JSON: data, licence, step, scores, software versions).
"""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.checkpoints.provenance import checked
from core.config import ModelConfig
from core.errors import UserError
from core.files import is_folder, open_regular, read_problem

FORMAT = "transformer-viz"
FORMAT_VERSION = 1
TOKENIZER_TENSORS = "tokenizer"  # how their names begin
CHECKSUM = "checksum"  # of the metadata
_LARGEST_HEADER = 100_000_000
_BYTES = {
    **dict.fromkeys(("F64", "I64", "U64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("I8", "U8", "BOOL"), 1),
}
# What JSON of another form than expected raises when it is read as if it had that form.
_MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Header:
    """What a model file says of itself.

    ``left_out`` names the entries of its provenance that are of the wrong form. Without a
    ``checksum``, as earlier versions wrote files, changed numbers would go unnoticed.
    """

    config: ModelConfig
    provenance: Mapping[str, Any]
    parameters: int
    left_out: tuple[str, ...] = ()
    checksum: str | None = None


def read_header(path: str | Path) -> Header:
    """Read what a checkpoint says about itself.

    Raises:
        UserError: missing, unreadable, truncated, of another kind or of a newer version.
    """
    path = Path(path)
    block, data_size = split_header(path)
    try:
        entries = json.loads(block)
        metadata = entries.pop("__metadata__", {})
        kind, version = metadata.get("format"), metadata.get("format_version")
        needed = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
        complete = data_size >= needed
        parameters = sum(
            math.prod(map(operator.index, entry["shape"]))
            for name, entry in entries.items()
            if not name.startswith(TOKENIZER_TENSORS)
        )
    except _MALFORMED as error:
        raise UserError(f"{path} is truncated or damaged; copy or download it again.") from error
    if kind != FORMAT:
        raise UserError(f"{path} is a safetensors file, but not a Transformer Viz model.")
    if version != str(FORMAT_VERSION):
        raise UserError(
            f"{path} has format version {str(version)[:20]}, but this program reads version "
            f"{FORMAT_VERSION}; update Transformer Viz to open it."
        )
    if not complete:
        raise UserError(f"{path} is truncated; copy or download it again.")
    if not all(map(_is_consistent, entries.values())):
        raise UserError(f"{path} is damaged; copy or download it again.")
    try:
        config = ModelConfig.from_dict(json.loads(metadata["config"]))
        provenance, left_out = checked(json.loads(metadata["provenance"]))
    except _MALFORMED as error:
        raise UserError(f"{path} does not describe its model; the file is damaged.") from error
    except UserError as error:
        raise UserError(f"{path} describes an impossible model: {error}") from error
    return Header(config, provenance, parameters, left_out, metadata.get(CHECKSUM))


def _is_consistent(entry: Mapping[str, Any]) -> bool:
    """Whether a tensor has as many bytes as its shape and type say."""
    try:
        start, end = entry["data_offsets"]
        size: int = math.prod(entry["shape"]) * _BYTES[entry["dtype"]]
        return bool(0 <= start <= end and end - start == size)
    except _MALFORMED:
        return False


def read_metadata(path: Path) -> dict[str, Any]:
    """Read what a safetensors file says about itself; empty if it has no readable metadata.

    Raises:
        UserError: the file cannot be read, or is none.
    """
    try:
        metadata = json.loads(split_header(path)[0]).get("__metadata__")
    except _MALFORMED:
        return {}
    return metadata if isinstance(metadata, dict) else {}


def split_header(path: Path) -> tuple[bytes, int]:
    """Return the JSON block at the start of a safetensors file, and the number of bytes after it.

    The block's length comes first, in 8 bytes, little-endian.

    Raises:
        UserError: the file cannot be read, or is none.
    """
    if is_folder(path):
        raise UserError(f"{path} is a folder; open the .safetensors file in it.")
    with open_regular(path) as file:
        try:
            start = file.read(8)
            length = int.from_bytes(start, "little")
            block = file.read(length) if 0 < length <= _LARGEST_HEADER else b""
            size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise UserError(read_problem(path, error)) from error
    if not block.startswith(b"{"):
        raise UserError(f"{path} is not a model; choose a .safetensors file.")
    return block, size - len(start) - length
