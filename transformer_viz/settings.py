"""What the application remembers: one validated JSON file in the user's configuration folder.

A field that cannot be used falls back to its default alone, and the file is then kept beside as
`settings.json.bad`. A folder that cannot be written leaves the application working from memory.
Both are said once, as a notice: one sentence for the user.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from core.errors import UserError
from core.files import atomic_write_text
from transformer_viz.checks import (
    boolean,
    number,
    one_of,
    optional,
    record,
    sequence,
    string,
    whole,
)
from transformer_viz.drawing.colormap import ColorMap
from transformer_viz.options import LEAST_KERNEL, MOST_KERNEL, View, ViewOptions
from transformer_viz.selection import Selection
from transformer_viz.theme import ThemeChoice

MAX_BEAM = 16
MAX_ALPHA = 2.0
RECENT_FILES = 10
HISTORY = 30
MAX_RUNS = 1_000
MAX_REMEMBERED_TEXT = 10_000


def default_threads() -> int:
    """Leave one core to the window; a small model gains nothing from more than four."""
    return max(1, min(4, (os.cpu_count() or 1) - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    theme: ThemeChoice = ThemeChoice.SYSTEM
    color_map: ColorMap = ColorMap.PAPER
    model: str = ""  # the checkpoint shown last: its path, or the name of a bundled one
    text: str | None = None  # sentence shown last, None before the first start
    trace: str = ""  # the file shown last in place of a translation
    selection: Selection | None = None  # shown last, in that sentence
    second_text: str | None = None  # compared with last
    second_model: str = ""  # the path of the checkpoint compared with last
    view: View = View.HEATMAP
    options: ViewOptions = field(default_factory=ViewOptions)
    beam: int = 1  # 1 is greedy
    beam_size: int = 4  # what the beam button turns on
    alpha: float = 0.6  # length penalty
    threads: int = 0  # torch threads of the worker, 0 for default_threads()
    recent_files: tuple[str, ...] = ()
    history: tuple[str, ...] = ()  # sentences, the newest first
    geometry: tuple[int, ...] = ()  # x, y, width, height
    maximized: bool = False
    panels: tuple[int, ...] = ()  # widths of the three columns
    runs: tuple[str, ...] = ()  # run folders outside of the user's folder of runs
    tell_of_runs: bool = True  # say at closing that training goes on
    hint_done: bool = False  # the line of the first start has been followed or closed

    def remember_file(self, path: str) -> "Settings":
        return replace(self, recent_files=_newest_first(path, self.recent_files, RECENT_FILES))

    def remember_text(self, text: str) -> "Settings":
        """Put a sentence first in the history; one too long to be worth a line is left out."""
        if not text.strip() or len(text) > MAX_REMEMBERED_TEXT:
            return self
        return replace(self, history=_newest_first(text, self.history, HISTORY))


class SettingsFile:
    """Reads and writes `settings.json`."""

    def __init__(self, folder: Path | None) -> None:
        """`folder` None remembers nothing, as a screenshot should."""
        self.folder = folder
        self._path = None if folder is None else folder / "settings.json"
        self._told = False

    def load(self) -> tuple[Settings, str | None]:
        """The settings, and a notice if they are not all that the file should have held."""
        if self._path is None:
            return Settings(), None
        try:
            data = self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return Settings(), None
        except OSError as error:
            return Settings(), f"The settings in {self._path} cannot be read ({error.strerror})."
        settings, bad = parse(data)
        if not bad:
            return settings, None
        kept = self._keep_beside(data)
        return settings, f"Settings with an unusable value start afresh: {', '.join(bad)}.{kept}"

    def save(self, settings: Settings) -> str | None:
        """Write the settings; a notice, the first time that this is not possible."""
        if self._path is None:
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(asdict(settings), ensure_ascii=True, indent=2)
            atomic_write_text(self._path, text + "\n")
        except (OSError, UserError):
            told, self._told = self._told, True
            return None if told else f"Settings cannot be saved in {self._path.parent}."
        return None

    def _keep_beside(self, data: bytes) -> str:
        assert self._path is not None
        kept = self._path.with_name(self._path.name + ".bad")
        try:
            kept.write_bytes(data)
        except OSError:
            return ""
        return f" The old file is kept as {kept.name}."


def config_folder(chosen: Path | None) -> Path:
    """The folder given on the command line, else the user's own one for this application."""
    return chosen or Path(platformdirs.user_config_path("transformer-viz", appauthor=False))


def parse(data: bytes) -> tuple[Settings, list[str]]:
    """Settings from JSON, and the names of what had to fall back to its default."""
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return Settings(), ["the whole file"]
    if not isinstance(values, dict):
        return Settings(), ["the whole file"]
    good: dict[str, Any] = {}
    bad: list[str] = []
    for name in (each.name for each in fields(Settings)):
        if name not in values:
            continue
        try:
            good[name] = _CHECKS[name](values[name])
        except ValueError:
            bad.append(name)
    return Settings(**good), bad


def _newest_first(item: str, items: Sequence[str], limit: int) -> tuple[str, ...]:
    return (item, *(other for other in items if other != item))[:limit]


check_options = record(
    ViewOptions,
    threshold=number(0, 1),
    links_mass=number(0, 1),
    reach_kernel=whole(LEAST_KERNEL, MOST_KERNEL),
)
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "theme": one_of(ThemeChoice),
    "color_map": one_of(ColorMap),
    "model": string,
    "text": optional(string),
    "trace": string,
    "selection": optional(record(Selection)),
    "second_text": optional(string),
    "second_model": string,
    "view": one_of(View),
    "options": check_options,
    "beam": whole(1, MAX_BEAM),
    "beam_size": whole(2, MAX_BEAM),
    "alpha": number(0.0, MAX_ALPHA),
    "threads": whole(0, 256),
    "recent_files": sequence(string, range(RECENT_FILES + 1)),
    "history": sequence(string, range(HISTORY + 1)),
    "geometry": sequence(whole(-32768, 32767), (0, 4)),
    "maximized": boolean,
    "panels": sequence(whole(0, 32767), (0, 3)),
    "runs": sequence(string, range(MAX_RUNS + 1)),
    "tell_of_runs": boolean,
    "hint_done": boolean,
}
