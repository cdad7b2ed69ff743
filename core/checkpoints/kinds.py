"""What kind of model there is at a path, told from names alone: no torch is needed for it."""

from __future__ import annotations

import os
import re
import zipfile
from enum import Enum
from pathlib import Path

from core.checkpoints.other_models import refuse_codes, refuse_folder, refuse_other_model
from core.errors import UserError
from core.files import is_file, is_folder, read_problem
from core.remote.hub_cache import snapshot

_IN_FOLDERS = {  # files of a MarianMT folder, any of which stands for it
    *("config.json", "generation_config.json", "tokenizer_config.json", "model.safetensors"),
    *("pytorch_model.bin", "source.spm", "target.spm", "vocab.json", "target_vocab.json"),
    *("model.safetensors.index.json", "pytorch_model.bin.index.json"),
}
_SHARD = re.compile(r"(model|pytorch_model)-\d{5}-of-\d{5}\.(safetensors|bin)")


class Kind(Enum):
    NATIVE = "Transformer Viz model"
    MARIAN_FOLDER = "MarianMT folder"
    MARIAN_NPZ = "Marian model"


def recognise(path: str | Path) -> tuple[Kind, Path]:
    """Determine what kind of model is at a path, and where its files begin.

    A MarianMT folder is known by its ``config.json``; each of its files stands for it, as does the
    folder that the cache of the hub has around it. Other folders are Marian's own, and what is not
    recognised is taken for a model of ours, whose reader says what is wrong with it.

    Raises:
        UserError: it is known as something that cannot be opened as a model, or may not be read;
            the sentence says what to do instead.
    """
    path = Path(path)
    try:
        if is_folder(path):
            path = snapshot(path) or path
            names = os.listdir(path)
            if "config.json" in names:
                refuse_other_model(path)
                return Kind.MARIAN_FOLDER, path
            if any(name.endswith(".npz") for name in names):
                return Kind.MARIAN_NPZ, path
            for name in names:
                _refuse_quantised(path / name)
            refuse_folder(path, names)
            raise UserError(
                f"{path} contains no model: a MarianMT folder has a config.json, a Marian model "
                "is an .npz file, and a training run has a run.json."
            )
        in_folders = path.name in _IN_FOLDERS or _SHARD.fullmatch(path.name)
        if in_folders and is_file(path.parent / "config.json"):
            refuse_other_model(path.parent)
            return Kind.MARIAN_FOLDER, path.parent
    except PermissionError as error:
        raise UserError(read_problem(path, error)) from error
    except (OSError, ValueError):
        return Kind.NATIVE, path
    _refuse_quantised(path)
    refuse_codes(path)
    if path.suffix.lower() == ".zip":
        raise UserError(f"{path} is a zip archive; unpack it and open the folder inside.")
    return (Kind.MARIAN_NPZ if path.suffix == ".npz" else Kind.NATIVE), path


def _refuse_quantised(path: Path) -> None:
    """By the name that Marian gives to files of intgemm."""
    if ".intgemm" in path.name:
        raise UserError(
            f"{path} is a quantised Marian model packed for a processor; open the .npz file that "
            "it was made from."
        )


def is_marian_npz(path: Path) -> bool:
    """Return whether an `.npz` file describes a Marian model; False if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "special:model.yml.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False
