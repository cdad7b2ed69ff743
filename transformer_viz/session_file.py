"""A session on disk, `.tviz`: one JSON file that brings back what the window showed.

It names the model and does not hold it. The model is looked for where it was, then beside the
session file, then among the bundled ones; what is missing or has changed is said, not guessed.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.bundled import bundled_models
from core.errors import UserError
from core.files import atomic_write_text
from transformer_viz.checks import number, record, whole
from transformer_viz.options import View, ViewOptions
from transformer_viz.selection import Selection
from transformer_viz.session import Search
from transformer_viz.settings import MAX_ALPHA, MAX_BEAM, check_options

SUFFIX = ".tviz"
FORMAT = "transformer-viz session"
VERSION = 1
MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModel:
    """
    Attributes:
        path: of the checkpoint, or nothing for a bundled one.
        sha256: of the file, in hexadecimal, to notice that it is another one now.
    """

    name: str
    path: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSession:
    model: SavedModel | None
    text: str
    search: Search = field(default_factory=Search)
    view: View = View.HEATMAP
    selection: Selection = field(default_factory=Selection)
    options: ViewOptions = field(default_factory=ViewOptions)


@dataclass(frozen=True, slots=True)
class Found:
    """A session that was read; `model` is the file to open, and None keeps the one in use."""

    session: SavedSession
    model: Path | None
    remark: str = ""  # what is missing, one sentence


def save_session(path: Path, session: SavedSession) -> None:
    """
    Raises:
        UserError: the file cannot be written.
    """
    saved = {"format": FORMAT, "format_version": VERSION, **asdict(session)}
    atomic_write_text(path, json.dumps(saved, indent=2) + "\n")


def load_session(path: Path) -> Found:
    """
    Raises:
        UserError: unreadable, of a newer version, or with a field that cannot be used; the
            sentence names it.
    """
    session = _checked(path, _read(path))
    if session.model is None:
        return Found(session, None)
    return _with_model(path, session, session.model)


def saved_model(path: Path) -> SavedModel:
    """How a session names a checkpoint. Reads the whole file, so not in the window's thread."""
    bundled = path in bundled_models()
    return SavedModel(name=path.stem, path="" if bundled else str(path), sha256=_digest(path))


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"{path} is too large for a session; sessions are small JSON files.")
        values = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UserError(f"Could not read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not a session: it is no complete JSON.") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError(f"{path} is not a session of Transformer Viz.")
    return values


def _checked(path: Path, values: dict[str, Any]) -> SavedSession:
    version = values.pop("format_version", None)
    if version != VERSION:
        raise UserError(
            f"{path} has session format {version!r} and this program reads {VERSION}; "
            "a newer Transformer Viz may open it."
        )
    del values["format"]
    try:
        return _SESSION(values)
    except ValueError as error:
        raise UserError(f"{path} cannot be used; what it should have is {error}.") from error


def _with_model(path: Path, session: SavedSession, model: SavedModel) -> Found:
    places = [Path(model.path), path.with_name(Path(model.path).name)] if model.path else []
    places += [bundled for bundled in bundled_models() if bundled.stem == model.name]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        where = model.path or "it is not bundled here"
        return Found(session, None, f"The model {model.name} is missing ({where}).")
    if model.sha256 and _digest(found) != model.sha256:
        return Found(session, found, f"The model {found} has changed since this session was saved.")
    return Found(session, found)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


_SESSION = record(
    SavedSession,
    search=record(Search, beam=whole(1, MAX_BEAM), alpha=number(0, MAX_ALPHA)),
    options=check_options,
)
