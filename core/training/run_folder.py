"""The folder of a run: where everything lies, and how lines are added and taken back.

run.json            configuration, seed, versions, command, data
metrics.jsonl       a line per logged step and per validation
samples.jsonl       translations of fixed sentences at each validation
probes.jsonl        statistics of each head by step
probes/             step-000123-0.npz …, the attention on each probe sentence
checkpoints/        step-000100.safetensors …, complete models, the newest ones
best/               the same, of the best validations
state/              what exact resumption needs besides
data/               the text of the files as ids, and what was found in it
model.safetensors   the result
tensorboard/        the curves once more
control             "pause" or "stop", while somebody asks for it
lock                who trains the run, while somebody does
events.jsonl        what the process says with --json, if the window started it
log.txt             and what it says to people
averages/           models that the user had made from several checkpoints
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

from core.checkpoints.header import read_metadata
from core.errors import UserError
from core.files import (
    atomic_write_text,
    is_file,
    is_folder,
    is_leftover,
    is_there,
    remove_leftovers,
    write_problem,
)
from core.system import discard, remove
from core.training.config import RunConfig
from core.training.control import Wish, read_wish, write_wish
from core.training.events import Event, Step, Validation
from core.training.jsonl import parse_line
from core.training.lines import CHECKS
from core.training.lock import Lock

FORMAT = "transformer-viz-run"
FORMAT_VERSION = 1
_ABOUT = {"command": str, "started": str, "data": list, "data_checksum": str}  # in run.json
_CHECKPOINT = re.compile(r"step-(\d+)\.safetensors")
_PROBE = re.compile(r"step-(\d+)-\d+\.npz")
_OWN_FILES = frozenset(
    {
        *("run.json", "metrics.jsonl", "samples.jsonl", "probes.jsonl", "model.safetensors"),
        *("control", "lock", "events.jsonl", "log.txt"),
    }
)
_OWN_FOLDERS = {
    "probes": _PROBE,
    "checkpoints": _CHECKPOINT,
    "best": _CHECKPOINT,
    "state": re.compile(r"state\.safetensors"),
    "data": re.compile(r"store\.json|survey\.json|\w+\.(ids|offsets)"),
    "tensorboard": re.compile(r"events\.out\.tfevents\..*"),
    "averages": re.compile(r".*\.safetensors"),
}


class TakenBack(NamedTuple):
    """The last update of which something was taken back, and the number of invalid lines."""

    update: int
    odd_lines: int


class Contents(NamedTuple):
    """What lies in a run's folder: files and folders that are the run's own, run.json the last of
    them, and others."""

    own: list[Path]
    others: list[Path]


class RunFolder:
    """The files of one run by name; use ``create`` or ``open`` to make one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = path / "run.json"
        self.metrics = path / "metrics.jsonl"
        self.samples = path / "samples.jsonl"
        self.probe_log = path / "probes.jsonl"
        self.state = path / "state" / "state.safetensors"
        self.model = path / "model.safetensors"
        self.tensorboard = path / "tensorboard"
        self.control = path / "control"
        self.lock = Lock(path / "lock")
        self.events = path / "events.jsonl"
        self.log_text = path / "log.txt"
        self.averages = path / "averages"
        self.data = path / "data"

    @classmethod
    def require_free(cls, path: Path) -> None:
        """Check that a run can be created in the folder.

        What was left by a start that was killed before there was a run can be used again.

        Raises:
            UserError: something is there already, which no run may overwrite, or another process
                is starting a run there.
        """
        if is_there(path / "run.json"):
            raise UserError(
                f"{path} already contains a run; resume it (transformer-viz resume {path}) or "
                "choose another folder."
            )
        if cls(path).owner() is not None:
            raise UserError(f"Another process is starting a run in {path}; choose another folder.")
        if is_there(path) and not (is_folder(path) and _holds_no_run(path)):
            raise UserError(f"{path} exists and is not empty; choose another folder for the run.")

    @classmethod
    def create(cls, path: Path, config: RunConfig, about: Mapping[str, Any]) -> RunFolder:
        """Create a new folder with its run.json; ``about`` says what else it contains.

        Raises:
            UserError: the folder is taken or cannot be made.
        """
        folder = cls.make(path)
        folder.write_record(config, about)
        return folder

    @classmethod
    def make(cls, path: Path) -> RunFolder:
        """Create a new folder that becomes a run as soon as ``write_record`` is called.

        Raises:
            UserError: the folder is taken or cannot be made.
        """
        cls.require_free(path)
        folder = cls(path)
        try:
            for directory in (folder.state.parent, folder.path / "checkpoints"):
                directory.mkdir(parents=True, exist_ok=True)
                remove_leftovers(directory, older_than=0)
            remove_leftovers(path, older_than=0)
        except OSError as error:
            raise UserError(
                f"The run folder {path} cannot be created: {error.strerror or error}. Choose "
                "another folder."
            ) from error
        return folder

    def discard(self) -> None:
        """Remove what was made before there was a run, and the folder if it contains no log."""
        if is_there(self.record) or not _holds_no_run(self.path):
            return
        if is_there(self.log_text):
            for path in (self.state.parent, self.path / "checkpoints"):
                shutil.rmtree(path, ignore_errors=True)
        else:
            shutil.rmtree(self.path)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open a run folder; raises UserError unless it contains a run of this format."""
        folder = cls(path)
        if not is_file(folder.record):
            raise UserError(
                f"{path} is not a run folder because it has no run.json; choose another folder."
            )
        return folder

    def contents(self) -> Contents:
        """Tell what the run wrote from what somebody else put into its folder.

        A folder of the run's in which others have put something counts file by file.
        """
        found = Contents([], [])
        for path in self.path.iterdir():
            pattern = _OWN_FOLDERS.get(path.name)
            if is_leftover(path) or (path.name in _OWN_FILES and not is_folder(path)):
                found.own.append(path)
            elif pattern is None or path.is_symlink() or not is_folder(path):
                found.others.append(path)
            else:
                _sort_out(path, pattern, found)
        found.own.sort(key=lambda path: path == self.record)
        return found

    def write_record(self, config: RunConfig, about: Mapping[str, Any]) -> None:
        values = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **config.to_dict(),
            **about,
        }
        atomic_write_text(self.record, json.dumps(values, indent=2, ensure_ascii=False) + "\n")

    def read_record(self) -> tuple[RunConfig, dict[str, Any]]:
        """Read the configuration, and what else was passed to ``write_record``.

        Raises:
            UserError: run.json cannot be read, is of another format or a newer version.
        """
        try:
            values = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise UserError(f"{self.record} cannot be read: {error}.") from error
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise UserError(f"{self.record} does not describe a run; choose another folder.")
        for name, kind in _ABOUT.items():
            if not isinstance(values.get(name, kind()), kind):
                raise UserError(f"{self.record} is damaged: {name} = {values[name]!r}.")
        version = values.pop("format_version", None)
        if version != FORMAT_VERSION:
            raise UserError(
                f"{self.record} has format version {version}, but this program reads version "
                f"{FORMAT_VERSION}; use the version of the program that wrote it."
            )
        config = RunConfig.from_dict(
            {part: values.pop(part, None) for part in ("model", "training")}
        )
        return config, values

    def owner(self) -> int | None:
        """Return the pid of the process that trains the run, or None if no process does."""
        return self.lock.owner()

    def request(self, wish: Wish | None) -> None:
        """Ask the process that trains the run to pause or to stop; None takes this back and ends a
        pause.

        Raises:
            UserError: the folder cannot be written.
        """
        write_wish(self.control, wish)

    def wish(self) -> Wish | None:
        """Return the last request."""
        return read_wish(self.control)

    def log(self, event: Event) -> None:
        """Listen to events: steps and validations become lines of metrics.jsonl."""
        if isinstance(event, Step | Validation):
            self.append(self.metrics, event.to_dict())

    def append(self, path: Path, values: Mapping[str, Any]) -> None:
        try:
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(values, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UserError(write_problem(path, error)) from error

    def checkpoint(self, step: int) -> Path:
        return self.path / "checkpoints" / f"step-{step:06}.safetensors"

    def checkpoints(self) -> list[Path]:
        """Return the checkpoints in the order of their steps."""
        return list(_models_by_step(self.path / "checkpoints").values())

    def best_checkpoint(self, step: int) -> Path:
        return self.path / "best" / f"step-{step:06}.safetensors"

    def best_checkpoints(self) -> list[Path]:
        """Return the best checkpoints in the order of their steps."""
        return list(_models_by_step(self.path / "best").values())

    def prune_checkpoints(self, keep: int) -> None:
        for path in self.checkpoints()[:-keep]:
            discard(path)

    def prune_best(self, steps: Set[int]) -> None:
        """Remove the best checkpoints except those of these steps."""
        for step, path in _models_by_step(self.path / "best").items():
            if step not in steps:
                discard(path)

    def probe(self, step: int, sentence: int) -> Path:
        """Return the path of the trace of a probe sentence, counted from 0."""
        return self.path / "probes" / f"step-{step:06}-{sentence}.npz"

    def saved_update(self) -> int | None:
        """Return the update after which the state was saved; None if there is no readable state."""
        try:
            position = json.loads(read_metadata(self.state)["position"])
            return int(position["update"])
        except (UserError, ValueError, KeyError, TypeError):
            return None

    def rewind(self, step: int) -> TakenBack:
        """Remove lines, probes and checkpoints beyond ``step``, which will be made again.

        Files that a killed process had not finished go too, and lines that no run writes.
        """
        last, odd_lines = step, 0
        for folder in (self.path, *(path for path in self.path.iterdir() if is_folder(path))):
            remove_leftovers(folder, older_than=0)
        for path in (self.metrics, self.samples, self.probe_log):
            if is_there(path):
                lines = _read_lines(path)
                last = max([last, *lines.steps])
                odd_lines += lines.odd
                atomic_write_text(path, lines.text(lambda written: written <= step))
        for directory in ("checkpoints", "best"):
            for written, path in _models_by_step(self.path / directory).items():
                if written > step:
                    remove(path)
        self._remove_probes(lambda recorded: recorded > step)
        return TakenBack(last, odd_lines)

    def take_back_probe(self, step: int) -> None:
        """Remove the line and the traces of this step."""
        if is_there(self.probe_log):
            lines = _read_lines(self.probe_log)
            atomic_write_text(self.probe_log, lines.text(lambda recorded: recorded != step))
        self._remove_probes(lambda recorded: recorded == step)

    def _remove_probes(self, which: Callable[[int], bool]) -> None:
        for path in (self.path / "probes").glob("step-*.npz"):
            if (match := _PROBE.fullmatch(path.name)) and which(int(match.group(1))):
                remove(path)


def _sort_out(folder: Path, pattern: re.Pattern[str], found: Contents) -> None:
    inside = list(folder.iterdir())
    others = [
        path
        for path in inside
        if not is_leftover(path) and (is_folder(path) or not pattern.fullmatch(path.name))
    ]
    found.others.extend(others)
    found.own.extend([path for path in inside if path not in others] if others else [folder])


def _models_by_step(directory: Path) -> dict[int, Path]:
    found = {
        int(match.group(1)): path
        for path in directory.glob("step-*.safetensors")
        if (match := _CHECKPOINT.fullmatch(path.name))
    }
    return dict(sorted(found.items()))


def _holds_no_run(path: Path) -> bool:
    """Whether nothing is there but what precedes run.json."""
    return all(
        entry.name in {"lock", "control", "log.txt", "events.jsonl"}
        or is_leftover(entry)
        or (entry.name in {"state", "checkpoints"} and is_folder(entry) and _is_bare(entry))
        for entry in path.iterdir()
    )


def _is_bare(directory: Path) -> bool:
    """Whether nothing is in it but a state, or the beginnings of one."""
    return all(
        entry.name == "state.safetensors" or is_leftover(entry) for entry in directory.iterdir()
    )


class _Lines(NamedTuple):
    """The whole lines of a JSONL file with their steps, and how many others there are."""

    lines: list[tuple[int, str]]
    odd: int

    @property
    def steps(self) -> list[int]:
        return [step for step, _ in self.lines]

    def text(self, kept_step: Callable[[int], bool]) -> str:
        return "".join(line + "\n" for step, line in self.lines if kept_step(step))


def _read_lines(path: Path) -> _Lines:
    """What a crash cut short at the end is no line, and not odd."""
    *whole, _unfinished = path.read_bytes().split(b"\n")
    parsed = [(parse_line(raw, CHECKS[path.name]), raw) for raw in whole]
    lines = [(value["step"], raw.decode("utf-8")) for value, raw in parsed if value is not None]
    return _Lines(lines, len(whole) - len(lines))
