"""A session on disk, `.tviz`: one JSON file that brings back what the window showed.

It names the model, or the trace that was read from a file, and does not hold them. They are looked
for where they were, then beside the session file, a model also among the bundled ones; what is
missing or has changed is said, not guessed.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.bundled import bundled_models
from core.errors import UserError
from core.files import atomic_write_text, is_folder, is_there, read_regular, shown_path
from core.trace.npz import load_npz
from core.trace.trace import Trace
from transformer_viz.engine.checksums import checksum
from transformer_viz.shell.views import VIEW_NAMES
from transformer_viz.state.checks import number, record, whole
from transformer_viz.state.gates import SavedGate
from transformer_viz.state.options import ViewOptions
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Search
from transformer_viz.state.settings import MAX_ALPHA, MAX_BEAM, OPTION_CHECKS, check_gates

SUFFIX = ".tviz"
FORMAT = "transformer-viz session"
VERSION = 1
MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModel:
    """The model that a session file names.

    Attributes:
        path: of the file or folder, or nothing for a bundled one.
        sha256: its checksum, to notice that it is another one now.
    """

    name: str
    path: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSession:
    """The contents of a session file.

    Attributes:
        sentence_start: the place in the text of the sentence shown.
        keep_whole: a text of several sentences is translated as one.
        gates: for the model named.
        trace: path of the file that the trace shown came from, or nothing.
        second_text, second_model: what was chosen to compare with.
    """

    model: SavedModel | None
    text: str
    sentence_start: int = 0
    keep_whole: bool = False
    trace: str = ""
    search: Search = field(default_factory=Search)
    view: str = "heatmap"
    selection: Selection = field(default_factory=Selection)
    options: ViewOptions = field(default_factory=ViewOptions)
    second_text: str | None = None
    second_model: SavedModel | None = None
    gates: tuple[SavedGate, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A session that was read, and what it names.

    Attributes:
        model: the file to open; None keeps the one in use.
        second_model: the file to compare with, if it is there.
        trace: with its file, to show in place of a translation.
        remarks: what is missing or has changed, in sentences.
    """

    session: SavedSession
    model: Path | None = None
    second_model: Path | None = None
    trace: tuple[Path, Trace] | None = None
    remarks: tuple[str, ...] = ()


def save_session(path: Path, session: SavedSession) -> None:
    """Write a session file.

    Raises:
        UserError: the file cannot be written.
    """
    saved = {"format": FORMAT, "format_version": VERSION, **asdict(session)}
    atomic_write_text(path, json.dumps(saved, indent=2) + "\n", private=True)


def load_session(path: Path) -> Found:
    """Read a session file.

    Raises:
        UserError: unreadable, of a newer version, or with a field that cannot be used; the
            sentence names it.
    """
    session = _checked(path, _read(path))
    model, remark = _find_model(path, session.model)
    second_model, second_remark = _find_model(path, session.second_model)
    remarks = [each for each in (remark, second_remark) if each]
    trace = None
    if session.trace:
        place = _find(path, session.trace) or Path(session.trace)
        try:
            trace = place, load_npz(place)
        except UserError as error:
            remarks.append(str(error))
    return Found(session, model, second_model, trace, tuple(remarks))


def saved_model(path: Path) -> SavedModel:
    """How a session names a model. Reads all of it, so not in the window's thread."""
    bundled = path in bundled_models()
    name = path.name if is_folder(path) else path.stem
    return SavedModel(name=name, path="" if bundled else str(path), sha256=_digest(path))


def _read(path: Path) -> dict[str, Any]:
    data = read_regular(path, most=MOST_BYTES)
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not a session: it is not complete JSON.") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError(f"{path} is not a Transformer Viz session.")
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


def _find_model(path: Path, model: SavedModel | None) -> tuple[Path | None, str]:
    """The checkpoint, and what there is to say about it."""
    if model is None:
        return None, ""
    bundled = (one for one in bundled_models() if one.stem == model.name)
    found = _find(path, model.path) or next(bundled, None)
    if found is None:
        where = shown_path(model.path) or "it is not bundled with this program"
        return None, f"The model {shown_path(model.name)} is missing ({where})."
    if model.sha256 and _digest(found) != model.sha256:
        return found, f"The model {found} has changed since this session was saved."
    return found, ""


def _find(session: Path, name: str) -> Path | None:
    """What a session names: where it was, else beside the session."""
    places = (Path(name), session.with_name(Path(name).name)) if name else ()
    return next((place for place in places if is_there(place)), None)


def _digest(path: Path) -> str:
    try:
        return checksum(path)
    except OSError:
        return ""


def _view_name(value: Any) -> str:
    if value not in VIEW_NAMES:
        raise ValueError(" or ".join(VIEW_NAMES))
    return str(value)


_SESSION = record(
    SavedSession,
    view=_view_name,
    search=record(Search, beam=whole(1, MAX_BEAM), alpha=number(0, MAX_ALPHA)),
    options=record(ViewOptions, **OPTION_CHECKS),
    gates=check_gates,
)
