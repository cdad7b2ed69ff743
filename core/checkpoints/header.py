"""The layout of a checkpoint: one `.safetensors` file, read here without torch.

Tensors are the model's parameters by name, a shared one once, and ``tokenizer``, the SentencePiece
model as bytes. The metadata says ``format``, ``format_version``, ``config`` and ``provenance``
(JSON: data, licence, step, scores, software versions).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.config import ModelConfig
from core.errors import UserError

FORMAT = "transformer-viz"
FORMAT_VERSION = 1
TOKENIZER_TENSOR = "tokenizer"
_LARGEST_HEADER = 100_000_000


@dataclass(frozen=True, slots=True)
class Header:
    config: ModelConfig
    provenance: Mapping[str, Any]
    parameters: int


def read_header(path: str | Path) -> Header:
    """What a checkpoint says of itself.

    Raises:
        UserError: missing, unreadable, truncated, of another kind or of a newer version.
    """
    path = Path(path)
    entries = _read_json(path)
    metadata = entries.pop("__metadata__", {})
    if metadata.get("format") != FORMAT:
        raise UserError(f"{path} is a safetensors file, but not a Transformer Viz model.")
    version = metadata.get("format_version", "")
    if not version.isdecimal() or int(version) > FORMAT_VERSION:
        raise UserError(
            f"{path} has format version {version or 'unknown'} and this program reads up to "
            f"{FORMAT_VERSION}: update Transformer Viz to open it."
        )
    try:
        config = ModelConfig.from_dict(json.loads(metadata["config"]))
        provenance = json.loads(metadata["provenance"])
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise UserError(f"{path} does not describe its model; the file is damaged.") from error
    except UserError as error:
        raise UserError(f"{path} describes a model that is not possible: {error}") from error
    parameters = sum(
        _product(entry["shape"]) for name, entry in entries.items() if name != TOKENIZER_TENSOR
    )
    return Header(config, provenance, parameters)


def _read_json(path: Path) -> dict[str, Any]:
    """The JSON block at the start: its length in 8 bytes, little-endian, then the block."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; open the .safetensors file in it.")
    try:
        with path.open("rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            block = file.read(length) if 0 < length <= _LARGEST_HEADER else b""
            size = path.stat().st_size
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; check the name.") from error
    except PermissionError as error:
        raise UserError(f"{path} may not be read; change its permissions.") from error
    except OSError as error:
        raise UserError(f"Could not read {path}: {error.strerror or error}.") from error
    if not block.lstrip().startswith(b"{"):
        raise UserError(f"{path} is not a model: it is no .safetensors file.")
    try:
        entries: dict[str, Any] = json.loads(block)
        spans = [entry["data_offsets"][1] for n, entry in entries.items() if n != "__metadata__"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{path} is truncated or damaged; copy or download it again.") from error
    if size < 8 + length + max(spans, default=0):
        raise UserError(f"{path} is truncated; copy or download it again.")
    return entries


def _product(shape: list[int]) -> int:
    product = 1
    for side in shape:
        product *= side
    return product
