"""Opening a model, of whatever kind it is."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from core.checkpoints.header import Header, read_header
from core.errors import UserError

if TYPE_CHECKING:
    import torch

    from core.checkpoints.native import Checkpoint

_IN_FOLDERS = {  # files of a MarianMT folder, any of which stands for it
    *("config.json", "generation_config.json", "tokenizer_config.json", "model.safetensors"),
    *("pytorch_model.bin", "source.spm", "target.spm", "vocab.json", "target_vocab.json"),
}


class Kind(Enum):
    NATIVE = "Transformer Viz model"
    MARIAN_FOLDER = "MarianMT folder"
    MARIAN_NPZ = "Marian model"


def recognise(path: str | Path) -> tuple[Kind, Path]:
    """What there is at a path, and where it begins; torch is not needed for it.

    A MarianMT folder is known by its ``config.json``; each of its files stands for it. Other
    folders are Marian's own, and what is not recognised is taken for a model of ours, whose
    reader says what is wrong with it.

    Raises:
        UserError: nothing is there, or it is a folder of something else.
    """
    path = Path(path)
    try:
        if path.is_dir():
            if (path / "config.json").exists():
                return Kind.MARIAN_FOLDER, path
            if any(path.glob("*.npz")):
                return Kind.MARIAN_NPZ, path
            raise UserError(
                f"{path} holds no model: a MarianMT folder has a config.json, and a Marian model "
                "is an .npz file."
            )
        if path.name in _IN_FOLDERS and (path.parent / "config.json").is_file():
            return Kind.MARIAN_FOLDER, path.parent
    except PermissionError as error:
        raise UserError(f"{path} may not be read; change its permissions.") from error
    except (OSError, ValueError):
        return Kind.NATIVE, path
    return (Kind.MARIAN_NPZ if path.suffix == ".npz" else Kind.NATIVE), path


def open_model(path: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """A model in evaluation mode and float32: ours, a MarianMT folder, or a Marian `.npz`.

    Raises:
        UserError: it is missing, damaged, or of a kind that cannot be opened.
    """
    from core.checkpoints.native import load_checkpoint

    kind, path = recognise(path)
    if kind is Kind.NATIVE:
        return load_checkpoint(path, device)
    if kind is Kind.MARIAN_FOLDER:
        from core.checkpoints.marian_folder import import_marian_folder as read
    else:
        from core.checkpoints.marian_npz import import_marian_npz as read
    checkpoint = read(path)
    checkpoint.model.to(device)
    return checkpoint


def open_header(path: str | Path) -> Header:
    """What a model says of itself; one of another program has to be read whole for it.

    Raises:
        UserError: as ``open_model``.
    """
    kind, path = recognise(path)
    if kind is Kind.NATIVE:
        return read_header(path)
    checkpoint = open_model(path)
    return Header(checkpoint.config, checkpoint.provenance, checkpoint.model.parameter_count())
