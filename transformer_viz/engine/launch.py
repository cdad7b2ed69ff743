"""Starting the process that trains: it belongs to no window and outlives them all."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QProcess, QProcessEnvironment

from core.errors import UserError
from core.presets import PRESETS, preset
from core.system import module_command, module_environment, shell_line
from core.training.config import RunConfig
from core.training.run_folder import RunFolder


def train_arguments(base: str, config: RunConfig, path: Path) -> list[str]:
    """The command that trains ``config``, written as its difference from the preset ``base``."""
    training = config.training
    words = ["train", base, "--out", str(path), "--data", *training.data]
    if training.validation:
        words += ["--validation", *training.validation]
    usual = preset(base).to_dict()
    changed = [
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for part, values in config.to_dict().items()
        for name, value in values.items()
        if value != usual[part][name] and name not in ("data", "validation")
    ]
    return [*words, *(["--set", *changed] if changed else []), "--json"]


def train_command(command: str, config: RunConfig, out: Path) -> str:
    """What to type to train the same again, into ``out``, from any folder.

    ``command`` is what made the run; it names its files without their folders.
    """
    words = train_arguments(preset_of(command, config), config, out)
    words.remove("--json")
    words.insert(0, "transformer-viz")
    return shell_line(words)


def preset_of(command: str, config: RunConfig) -> str:
    """The preset that a run began with; of one that began with a file, the preset most like it."""
    words = command.split()
    if len(words) > 2 and words[2] in PRESETS:
        return words[2]
    return min(PRESETS, key=lambda name: len(config.differences(preset(name))))


def resume_arguments(path: Path, steps: int | None = None) -> list[str]:
    """Return the arguments that resume a run; ``steps`` is a new last step, for a run that is to go
    on beyond its end."""
    return ["resume", str(path), *(["--steps", str(steps)] if steps else []), "--json"]


def start(path: Path, arguments: Sequence[str]) -> None:
    """Run a command of `core` detached; what it says goes into the run folder ``path``.

    Raises:
        UserError: the folder cannot be made, or the process does not start.
    """
    folder = RunFolder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be created: {error.strerror or error}.") from error
    process = child(arguments)
    process.setStandardInputFile(QProcess.nullDevice())
    _end_last_line(folder.events)
    append = QProcess.OpenModeFlag.Append
    process.setStandardOutputFile(str(folder.events), append)
    process.setStandardErrorFile(str(folder.log_text), append)
    if not process.startDetached():
        raise UserError(f"The training process could not be started: {process.errorString()}.")


def _end_last_line(path: Path) -> None:
    """After a line that a killed process left half written, so that the next is one of its own."""
    with suppress(OSError), path.open("rb+") as file:
        if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) and file.read() != b"\n":
            file.write(b"\n")


def child(arguments: Sequence[str]) -> QProcess:
    """A command of `core` with these arguments, not started yet."""
    return process_of("core", arguments)


def process_of(module: str, arguments: Sequence[str]) -> QProcess:
    """Return `core` or `transformer_viz` as a process that is not started yet.

    Neither it nor a process that it starts imports anything from the current folder.
    """
    program, *words = module_command(module, arguments)
    process = QProcess()
    process.setProgram(program)
    process.setArguments(words)
    environment = QProcessEnvironment.systemEnvironment()
    for name, value in module_environment(environment.value("PYTHONPATH")).items():
        environment.insert(name, value)
    process.setProcessEnvironment(environment)
    return process
