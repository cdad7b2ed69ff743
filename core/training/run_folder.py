"""The folder of a run: where everything lies, and how lines are added and taken back.

run.json            configuration, seed, versions, command, data
metrics.jsonl       a line per logged step and per validation
samples.jsonl       translations of fixed sentences at each validation
probes.jsonl        statistics of each head by step
probes/             step-000123-0.npz …, the attention on each probe sentence
checkpoints/        step-000100.safetensors …, complete models
state/              what exact resumption needs besides
model.safetensors   the result
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.files import atomic_write_text
from core.training.config import RunConfig
from core.training.events import Event, Step, Validation

FORMAT = "transformer-viz-run"
FORMAT_VERSION = 1
_CHECKPOINT = re.compile(r"step-(\d+)\.safetensors")
_PROBE = re.compile(r"step-(\d+)-\d+\.npz")


class RunFolder:
    """Names the files of one run; made by ``create`` or ``open``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = path / "run.json"
        self.metrics = path / "metrics.jsonl"
        self.samples = path / "samples.jsonl"
        self.probe_log = path / "probes.jsonl"
        self.state = path / "state" / "state.safetensors"
        self.model = path / "model.safetensors"

    @staticmethod
    def require_free(path: Path) -> None:
        """Raises UserError if something is there already, which no run may overwrite."""
        if (path / "run.json").exists():
            raise UserError(
                f"{path} holds a run already; go on with it (transformer-viz resume {path}) "
                "or choose another folder."
            )
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UserError(f"{path} exists and is not empty; choose another folder for the run.")

    @classmethod
    def create(cls, path: Path, config: RunConfig, about: Mapping[str, Any]) -> RunFolder:
        """A new folder with its run.json; ``about`` says what else belongs into it.

        Raises:
            UserError: the folder is taken or cannot be made.
        """
        cls.require_free(path)
        folder = cls(path)
        try:
            for directory in (folder.state.parent, folder.path / "checkpoints"):
                directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"The run folder {path} cannot be made: {error.strerror or error}."
            ) from error
        folder.write_record(config, about)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Raises UserError unless the folder holds a run of this format."""
        folder = cls(path)
        if not folder.record.is_file():
            raise UserError(f"{path} is not a run folder: there is no run.json in it.")
        return folder

    def write_record(self, config: RunConfig, about: Mapping[str, Any]) -> None:
        values = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **config.to_dict(),
            **about,
        }
        atomic_write_text(self.record, json.dumps(values, indent=2, ensure_ascii=False) + "\n")

    def read_record(self) -> tuple[RunConfig, dict[str, Any]]:
        """The configuration, and what else ``write_record`` was given.

        Raises:
            UserError: run.json cannot be read, is of another format or a newer version.
        """
        try:
            values = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{self.record} cannot be read: {error}.") from error
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise UserError(f"{self.record} does not describe a run.")
        version = values.pop("format_version", None)
        if version != FORMAT_VERSION:
            raise UserError(
                f"{self.record} has format version {version}, this program reads "
                f"{FORMAT_VERSION}; use the version of the program that wrote it."
            )
        config = RunConfig.from_dict(
            {part: values.pop(part, None) for part in ("model", "training")}
        )
        return config, values

    def log(self, event: Event) -> None:
        """A listener: steps and validations become lines of metrics.jsonl."""
        if isinstance(event, Step | Validation):
            self.append(self.metrics, event.to_dict())

    def append(self, path: Path, values: Mapping[str, Any]) -> None:
        try:
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(values, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UserError(f"Could not write {path}: {error.strerror or error}.") from error

    def checkpoint(self, step: int) -> Path:
        return self.path / "checkpoints" / f"step-{step:06}.safetensors"

    def checkpoints(self) -> list[Path]:
        """In the order of their steps."""
        return list(self._checkpoints_by_step().values())

    def prune_checkpoints(self, keep: int) -> None:
        for path in self.checkpoints()[:-keep]:
            path.unlink(missing_ok=True)

    def probe(self, step: int, sentence: int) -> Path:
        """The trace of a probe sentence, counted from 0."""
        return self.path / "probes" / f"step-{step:06}-{sentence}.npz"

    def rewind(self, step: int) -> None:
        """Take back lines, probes and checkpoints beyond ``step``; they will be made again."""
        for path in (self.metrics, self.samples, self.probe_log):
            if path.exists():
                atomic_write_text(path, "".join(_lines_up_to(path, step)))
        for written, path in self._checkpoints_by_step().items():
            if written > step:
                path.unlink()
        for path in (self.path / "probes").glob("step-*.npz"):
            if (match := _PROBE.fullmatch(path.name)) and int(match.group(1)) > step:
                path.unlink()

    def _checkpoints_by_step(self) -> dict[int, Path]:
        found = {
            int(match.group(1)): path
            for path in (self.path / "checkpoints").glob("step-*.safetensors")
            if (match := _CHECKPOINT.fullmatch(path.name))
        }
        return dict(sorted(found.items()))


def _lines_up_to(path: Path, step: int) -> list[str]:
    """A last line that was cut short by a crash is no line."""
    kept = []
    for raw in path.read_bytes().split(b"\n"):
        try:
            values = json.loads(raw)
        except ValueError:
            continue
        if values["step"] <= step:
            kept.append(raw.decode("utf-8") + "\n")
    return kept
