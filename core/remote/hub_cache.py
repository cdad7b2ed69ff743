"""Hugging Face's own cache, where other programs keep models of the hub.

It has a folder ``models--OWNER--NAME`` for each repository, with a folder in ``snapshots`` for each
revision and ``refs/main``, which names the newest one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from core.files import is_file, is_folder, is_there

_REPOSITORY = re.compile(r"models--(.+)")
_REVISION = re.compile(r"[0-9a-f]{40}")
NEEDED = ("config.json", "source.spm", "target.spm", "vocab.json")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first one there is
"""The files of a MarianMT model."""


def hub_cache() -> Path:
    """Return where huggingface_hub keeps its files, by the same environment variables."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(name):
            return Path(os.environ[name]).expanduser()
    for name, below in (("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")):
        if os.environ.get(name):
            return Path(os.environ[name]).expanduser() / below
    return Path.home() / ".cache" / "huggingface" / "hub"


def snapshot(folder: Path) -> Path | None:
    """Return the ``main`` revision of a folder ``models--OWNER--NAME``, or else the newest one;
    None for any other folder."""
    snapshots = folder / "snapshots"
    if not _REPOSITORY.fullmatch(folder.name) or not is_folder(snapshots):
        return None
    main = folder / "refs" / "main"
    try:
        revision = _first_line(main) if is_file(main) else ""
        if _REVISION.fullmatch(revision) and is_folder(snapshots / revision):
            return snapshots / revision
        found = [path for path in snapshots.iterdir() if is_folder(path)]
        return max(found, key=lambda path: path.stat().st_mtime, default=None)
    except OSError:
        return None


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        return file.readline(64).decode("ascii", "replace").strip()


def origin_of(snapshot: Path) -> tuple[str, str] | None:
    """Return repository and revision of a folder in ``snapshots``; None for any other folder."""
    path = snapshot.absolute()
    named = _REPOSITORY.fullmatch(path.parent.parent.name)
    if named is None or path.parent.name != "snapshots":
        return None
    return named[1].replace("--", "/"), path.name


def model_name(folder: Path) -> str:
    """Return the name of the model in a folder: its repository in this cache, or else the folder's
    name."""
    origin = origin_of(folder)
    return folder.absolute().name if origin is None else origin[0].rpartition("/")[2]


def cached_models() -> dict[str, Path]:
    """Return the folders of the MarianMT models that are complete in the cache, by repository."""
    try:
        folders = sorted(hub_cache().glob("models--*"))
    except OSError:
        return {}
    found = {}
    for folder in folders:
        place = snapshot(folder)
        origin = None if place is None else origin_of(place)
        if place is not None and origin is not None and _is_whole(place):
            found[origin[0]] = place
    return found


def _is_whole(folder: Path) -> bool:
    return all(is_there(folder / name) for name in NEEDED) and any(
        is_there(folder / name) for name in WEIGHTS
    )
