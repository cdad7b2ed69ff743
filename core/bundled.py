"""The models that come with the program."""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path

from core.errors import UserError
from core.files import is_there

FIRST_MODEL = "demo-en-de"


def bundled_models() -> list[Path]:
    """The checkpoints in resources/models, the one to open first first."""
    found = sorted(Path(str(files("resources"))).joinpath("models").glob("*.safetensors"))
    return sorted(found, key=lambda path: path.stem != FIRST_MODEL)


def measured_heads() -> Path:
    """The folder of what `transformer-viz heads --json` has found for bundled models."""
    return Path(str(files("resources"))) / "heads"


def measured_distances() -> Path:
    """The folder of what `transformer-viz distance --json` has found for bundled models."""
    return Path(str(files("resources"))) / "distance"


def read_bundled(folder: Path | None, checksum: str) -> str | None:
    """What was found for the model whose file has this SHA-256, in one of the two folders above;
    None if it is no bundled one."""
    path = folder and folder / f"{checksum}.json.gz"
    if path is None or not is_there(path):
        return None
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def model_path(name: str | None) -> Path:
    """A file, or a bundled model by its name; None is the first bundled one.

    Raises:
        UserError: no model is bundled. A file that is missing shows itself when it is read.
    """
    bundled = bundled_models()
    if name is None:
        if not bundled:
            raise UserError("No model is bundled here; name one with --model FILE.")
        return bundled[0]
    return next((path for path in bundled if path.stem == name), Path(name))
