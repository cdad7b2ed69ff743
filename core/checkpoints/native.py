"""Our own model files: saved atomically, loaded whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.checkpoints.header import FORMAT, FORMAT_VERSION, TOKENIZER_TENSORS, read_header
from core.checkpoints.stored_tensors import StoredTensors
from core.checkpoints.tensor_file import require_intact, write_tensors
from core.config import ModelConfig
from core.counted import counted
from core.errors import UserError
from core.model.transformer import Transformer
from core.model.uninitialised import uninitialised
from core.text.stored import from_tensors
from core.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model ready to use, with its tokenizer and provenance.

    ``left_out`` names the entries of the provenance that had the wrong form.
    """

    model: Transformer
    tokenizer: Tokenizer
    provenance: Mapping[str, Any]
    left_out: tuple[str, ...] = ()

    @property
    def config(self) -> ModelConfig:
        return self.model.config


def save_checkpoint(
    path: str | Path,
    model: Transformer,
    tokenizer: Tokenizer,
    provenance: Mapping[str, Any],
    dtype: torch.dtype = torch.float32,
) -> None:
    """Write one `.safetensors` file (layout: ``core.checkpoints.header``).

    ``dtype`` float16 halves the file; it is loaded back as float32.

    Raises:
        UserError: the file cannot be written; what stood there before stays.
    """
    tensors = {
        name: parameter.detach().to("cpu", dtype).contiguous()
        for name, parameter in model.named_parameters()
    }
    tensors |= {name: torch.tensor(array) for name, array in tokenizer.to_tensors().items()}
    _write(path, tensors, model.config, provenance)


def add_scores(path: str | Path, scores: Mapping[str, Any]) -> None:
    """Add to the ``scores`` in a model file's metadata, and leave the model unchanged.

    Raises:
        UserError: as ``load_checkpoint``, or the file cannot be written.
    """
    known = read_header(path).provenance.get("scores", {})
    add_provenance(path, {"scores": {**known, **scores}})


def add_provenance(path: str | Path, values: Mapping[str, Any]) -> None:
    """Add entries to a model file's provenance, or replace them, and leave the model unchanged.

    Raises:
        UserError: as ``load_checkpoint``, or the file cannot be written.
    """
    header = read_header(path)
    tensors = dict(StoredTensors(path))
    _write(path, tensors, header.config, {**header.provenance, **values})


def _write(
    path: str | Path,
    tensors: Mapping[str, Tensor],
    config: ModelConfig,
    provenance: Mapping[str, Any],
) -> None:
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "config": json.dumps(config.to_dict()),
        "provenance": json.dumps(provenance),
    }
    write_tensors(path, tensors, metadata)


def load_checkpoint(path: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """Load a model in evaluation mode, in float32.

    Raises:
        UserError: the file is missing, unreadable, truncated, of another kind, of a newer
            version, too large, changed since it was written, or its tensors are not exactly those
            of the model it describes.
    """
    header = read_header(path)
    tensors = StoredTensors(path)
    tokenizer = _tokenizer(tensors, str(path))
    require_same_size(header.config, tokenizer, str(path))
    try:
        model = uninitialised(header.config)
    except RuntimeError as error:  # of torch, where there is no memory of these sizes
        raise UserError(
            f"{path} describes a model that is too large for this machine's memory, or it is "
            "damaged."
        ) from error
    fill(model, tensors.without(TOKENIZER_TENSORS), str(path))
    require_intact(Path(path))
    return Checkpoint(model.to(device).eval(), tokenizer, header.provenance, header.left_out)


def _tokenizer(tensors: Mapping[str, Tensor], origin: str) -> Tokenizer:
    names = [name for name in tensors if name.startswith(TOKENIZER_TENSORS)]
    stored = {name: tensors[name] for name in names}
    if not stored or any(one.dtype != torch.uint8 for one in stored.values()):
        raise UserError(f"{origin} contains no tokenizer; the file is damaged.")
    try:
        return from_tensors({name: one.numpy() for name, one in stored.items()})
    except UserError as error:
        raise UserError(f"{origin} contains no readable tokenizer; the file is damaged.") from error


def require_same_size(config: ModelConfig, tokenizer: Tokenizer, origin: str) -> None:
    """Raise a UserError unless the model has exactly one row for each piece on either side."""
    for side, pieces, rows in (
        ("tokenizer", tokenizer.vocab_size, config.vocab_size),
        ("target tokenizer", tokenizer.target.vocab_size, config.target_vocabulary),
    ):
        if pieces != rows:
            raise UserError(
                f"{origin}: the {side} has {pieces} pieces, but the model has {rows}; they "
                "belong to different models, or the file is damaged."
            )


def fill(model: Transformer, tensors: Mapping[str, Tensor], origin: str) -> None:
    """Copy tensors into the model's parameters of the same name, each exactly once.

    Raises:
        UserError: a tensor is missing, unknown, of another shape or contains values that are no
            numbers; it names the first few.
    """
    parameters = dict(model.named_parameters())
    for names, problem, noun in (
        (parameters.keys() - tensors.keys(), "lacks", "tensor"),
        (tensors.keys() - parameters.keys(), "has", "unexpected tensor"),
    ):
        if names:
            shown = ", ".join(sorted(names)[:3])
            raise UserError(
                f"{origin} {problem} {counted(len(names), noun)}: {shown}. It is damaged."
            )
    for name, parameter in parameters.items():
        if parameter.shape != tensors[name].shape:
            raise UserError(
                f"{origin}: {name} has shape {list(tensors[name].shape)}, but the model needs "
                f"{list(parameter.shape)}; the file is damaged."
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])
            if not parameter.sum().isfinite():  # one that is none makes the sum none
                raise UserError(
                    f"{origin}: {name} contains NaN or infinite values; the model is damaged, or "
                    "its training has diverged."
                )
