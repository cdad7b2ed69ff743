"""What the application remembers: one validated JSON file in the user's configuration folder.

A field that cannot be used falls back to its default alone, and the file is then kept beside as
`settings.json.bad`. A file that cannot be read or is read-only is left alone, and a folder that
cannot be written leaves the application working from memory. The user is told once, by a notice of
one sentence. Fields of a newer version are kept as they are, and what another window has saved
meanwhile is merged.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from core.errors import UserError
from core.files import atomic_write, atomic_write_text, is_there, read_regular, write_problem
from core.heads import EVEN, Gate
from transformer_viz.state.checks import (
    MOST_ITEMS,
    Check,
    boolean,
    number,
    one_of,
    optional,
    record,
    record_checks,
    sequence,
    string,
    whole,
)
from transformer_viz.state.gates import STRONGEST, SavedGate
from transformer_viz.state.options import (
    LEAST_KERNEL,
    MOST_KERNEL,
    ColorMap,
    Penalty,
    ThemeChoice,
    ViewOptions,
)
from transformer_viz.state.selection import Selection

VERSION = 1
MAX_BEAM = 32
MAX_ALPHA = 2.0
RECENT_FILES = 10
HISTORY = 30
MAX_RUNS = 1_000
MAX_LESSONS = 1_000
MAX_TEXT_SIZE = 24  # points
SIDE_PANELS = ("heads_map", "inspector")
MAX_REMEMBERED_TEXT = 10_000
_MOST_BYTES = 20_000_000


def default_threads() -> int:
    """Leave one core to the window; a small model gains nothing from more than four."""
    return max(1, min(4, (os.cpu_count() or 1) - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    theme: ThemeChoice = ThemeChoice.SYSTEM
    color_map: ColorMap = ColorMap.PAPER
    model: str = ""  # the checkpoint shown last: its path, or the name of a bundled one
    text: str | None = None  # sentence shown last, None before the first start
    sentence_start: int = 0  # the place in it of the sentence shown
    keep_whole: bool = False  # a text of several sentences is translated as one
    trace: str = ""  # the file shown last in place of a translation
    selection: Selection | None = None  # shown last, in that sentence
    second_text: str | None = None  # compared with last
    second_model: str = ""  # the path of the checkpoint compared with last
    gates: tuple[SavedGate, ...] = ()  # of the model shown last
    view: str = "heatmap"
    options: ViewOptions = field(default_factory=ViewOptions)
    beam: int = 1  # 1 is greedy
    beam_size: int = 4  # what the beam button turns on
    alpha: float = 0.6  # exponent of the length penalty
    penalty: Penalty = Penalty.MODEL  # its form
    threads: int = 0  # torch threads of the worker, 0 for default_threads()
    recent_files: tuple[str, ...] = ()
    history: tuple[str, ...] = ()  # sentences, the newest first
    geometry: tuple[int, ...] = ()  # x, y, width, height
    maximized: bool = False
    panels: tuple[int, ...] = ()  # widths of the three columns
    hidden_panels: tuple[str, ...] = ()  # of `SIDE_PANELS`
    text_size: int = 0  # points, 0 for the system's
    variations: str = ""  # the folder of `transformer-viz variations --run` that was shown last
    runs: tuple[str, ...] = ()  # run folders outside of the user's folder of runs
    tell_of_runs: bool = True  # say at closing that training goes on
    hint_done: bool = False  # the line of the first start has been followed or closed
    lessons_done: tuple[str, ...] = ()  # the names of those that were finished

    def remember_file(self, path: str) -> "Settings":
        return replace(self, recent_files=_newest_first(path, self.recent_files, RECENT_FILES))

    def remember_text(self, text: str) -> "Settings":
        """Put a sentence first in the history; one too long to be worth a line is left out."""
        if not text.strip() or len(text) > MAX_REMEMBERED_TEXT:
            return self
        return replace(self, history=_newest_first(text, self.history, HISTORY))


class SettingsFile:
    """The file `settings.json` in a folder: read once, written often, perhaps by several
    windows."""

    def __init__(self, folder: Path | None) -> None:
        """Keep settings in `folder`; with None, nothing is remembered, as for a screenshot."""
        self.folder = folder
        self._path = None if folder is None else folder / "settings.json"
        self._known = Settings()  # as this window loaded or saved it last
        self._told = False

    def load(self) -> tuple[Settings, str | None]:
        """The settings, and a notice if they are not all that the file should have held.

        A file that cannot be read or written is left as it is: this window then saves nothing.
        """
        if self._path is None:
            return Settings(), None
        try:
            data = read_regular(self._path, most=_MOST_BYTES)
        except UserError as error:
            if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                return Settings(), None
            self._path = None
            return Settings(), f"Settings will not be saved this time: {error}"
        found = parse(data)
        self._known = found.settings
        if _is_read_only(self._path):
            path, self._path = self._path, None
            return found.settings, f"Settings will not be saved: {path} is read-only."
        if not found.bad:
            return found.settings, None
        reset = f"Settings that could not be used were reset: {', '.join(found.bad)}."
        return found.settings, f"{reset}{self.keep_beside()}"

    def save(self, settings: Settings) -> str | None:
        """Write the settings; a notice, the first time that this is not possible."""
        if self._path is None:
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            found = self._on_disk()
            merged = merge(self._known, settings, found.settings)
            values = {**found.unknown, "version": VERSION, **asdict(merged)}
            values["options"] = {**found.unknown_options, **values["options"]}
            text = json.dumps(values, ensure_ascii=True, indent=2)
            atomic_write_text(self._path, text + "\n", private=True)
        except (OSError, UserError):
            told, self._told = self._told, True
            return None if told else f"Settings cannot be saved in {self._path.parent}."
        self._known = settings
        return None

    def set_aside(self) -> str | None:
        """Rename the file, so that the next ``load`` finds none, and return a notice with its new
        name.

        Raises:
            UserError: it cannot be renamed.
        """
        if self._path is None or not is_there(self._path):
            return None
        kept = self._path.with_name(f"{self._path.name}.{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            self._path.rename(kept)
        except OSError as error:
            raise UserError(write_problem(kept, error)) from error
        return f"Starting with default settings; the previous ones are kept as {kept}."

    def keep_beside(self) -> str:
        """Copy the file, whose content was of no use; a sentence with the copy's name, or none."""
        if self._path is None:
            return ""
        kept = self._path.with_name(self._path.name + ".bad")
        try:
            data = read_regular(self._path, most=_MOST_BYTES)
            atomic_write(kept, lambda temporary: _fill(temporary, data), private=True)
        except UserError:
            return ""
        return f" The previous file is kept as {kept.name}."

    def _on_disk(self) -> "Parsed":
        """What is there now; what this window knows of it where it cannot be read."""
        assert self._path is not None
        try:
            found = parse(read_regular(self._path, most=_MOST_BYTES))
        except UserError:
            return Parsed(self._known, [])
        return found._replace(settings=self._known, bad=[]) if found.bad else found


def _is_read_only(path: Path) -> bool:
    """Whether nobody is meant to write the file, or this user is not."""
    return not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK)


def _fill(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def config_folder(chosen: Path | None) -> Path:
    """The folder given on the command line, else the user's own one for this application."""
    return chosen or Path(platformdirs.user_config_path("transformer-viz", appauthor=False))


class Parsed(NamedTuple):
    """What a settings file holds.

    Attributes:
        bad: the names of the fields that had to fall back to their defaults.
        unknown, unknown_options: fields of a newer version, and fields of its options.
    """

    settings: Settings
    bad: list[str]
    unknown: Mapping[str, Any] = {}
    unknown_options: Mapping[str, Any] = {}


def parse(data: bytes) -> Parsed:
    """Read settings from JSON; each field, and each of the options, falls back to its default
    separately."""
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return Parsed(Settings(), ["the whole file"])
    values.pop("version", None)
    options = values.pop("options", {})
    good, bad = _checked(values, _CHECKS)
    if isinstance(options, dict):
        good_options, bad_options = _checked(options, OPTION_CHECKS)
        good["options"] = ViewOptions(**good_options)
        bad += [f"options.{name}" for name in bad_options]
    else:
        bad.append("options")
        options = {}
    unknown, unknown_options = (
        {name: value for name, value in found.items() if name not in checks}
        for found, checks in ((values, _CHECKS), (options, OPTION_CHECKS))
    )
    return Parsed(Settings(**good), bad, unknown, unknown_options)


def _checked(
    values: Mapping[str, Any], checks: Mapping[str, Check[Any]]
) -> tuple[dict[str, Any], list[str]]:
    """The values that pass their check, and the names of those that do not."""
    good: dict[str, Any] = {}
    bad: list[str] = []
    for name in (name for name in checks if name in values):
        try:
            good[name] = checks[name](values[name])
        except ValueError:
            bad.append(name)
    return good, bad


def merge(known: Settings, ours: Settings, theirs: Settings) -> Settings:
    """What to save when another window may have saved ``theirs`` since this one knew ``known``.

    A field that this window has changed is its own, every other one is the other's, and likewise
    each of the options. Lists of what was used last and of runs are joined: ours first, what the
    other added, without what it removed.
    """
    merged = _changed(known, ours, theirs)
    merged["options"] = ViewOptions(**_changed(known.options, ours.options, theirs.options))
    for name, most in _JOINED.items():
        old, own, other = (getattr(each, name) for each in (known, ours, theirs))
        added = (item for item in other if item not in old and item not in own)
        kept = (item for item in own if item in other or item not in old)
        merged[name] = (*kept, *added)[:most]
    return Settings(**merged)


def _changed(known: Settings | ViewOptions, ours: Any, theirs: Any) -> dict[str, Any]:
    """Each field as ours if it differs from what was known, else as theirs."""
    return {
        one.name: getattr(
            theirs if getattr(ours, one.name) == getattr(known, one.name) else ours, one.name
        )
        for one in fields(known)
    }


def _newest_first(item: str, items: Sequence[str], limit: int) -> tuple[str, ...]:
    return (item, *(other for other in items if other != item))[:limit]


def _side_panel(value: Any) -> str:
    if value not in SIDE_PANELS:
        raise ValueError(f"one of {', '.join(SIDE_PANELS)}")
    return string(value)


OPTION_CHECKS = record_checks(
    ViewOptions,
    threshold=number(0, 1),
    links_mass=number(0, 1),
    reach_kernel=whole(LEAST_KERNEL, MOST_KERNEL),
)


def _gate(value: Any) -> Gate:
    """`EVEN` or a factor."""
    return EVEN if value == EVEN else number(0, STRONGEST)(value)


check_gates = sequence(record(SavedGate, factor=_gate), range(MOST_ITEMS))
_JOINED = {"recent_files": RECENT_FILES, "history": HISTORY, "runs": MAX_RUNS}
_CHECKS: dict[str, Check[Any]] = {
    "theme": one_of(ThemeChoice),
    "color_map": one_of(ColorMap),
    "model": string,
    "text": optional(string),
    "sentence_start": whole(0, 2**31),
    "keep_whole": boolean,
    "trace": string,
    "selection": optional(record(Selection)),
    "second_text": optional(string),
    "second_model": string,
    "gates": check_gates,
    "view": string,
    "beam": whole(1, MAX_BEAM),
    "beam_size": whole(2, MAX_BEAM),
    "alpha": number(0.0, MAX_ALPHA),
    "penalty": one_of(Penalty),
    "threads": whole(0, 256),
    "recent_files": sequence(string, range(RECENT_FILES + 1)),
    "history": sequence(string, range(HISTORY + 1)),
    "geometry": sequence(whole(-32768, 32767), (0, 4)),
    "maximized": boolean,
    "panels": sequence(whole(0, 32767), (0, 3)),
    "hidden_panels": sequence(_side_panel, range(len(SIDE_PANELS) + 1)),
    "text_size": whole(0, MAX_TEXT_SIZE),
    "variations": string,
    "runs": sequence(string, range(MAX_RUNS + 1)),
    "tell_of_runs": boolean,
    "hint_done": boolean,
    "lessons_done": sequence(string, range(MAX_LESSONS + 1)),
}
