"""Run folders as a training process leaves them, without one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.presets import preset
from core.training.config import RunConfig
from core.training.run_folder import RunFolder

SMALL = preset("tiny").with_settings({"steps": 100})


def make_run(
    path: Path,
    *,
    steps: Sequence[int] = (10, 20),
    config: RunConfig = SMALL,
    checkpoints: Sequence[int] = (),
    started: str = "2026-01-01T00:00:00+00:00",
    finished: bool = False,
) -> RunFolder:
    about = {"command": "transformer-viz train tiny", "started": started, "data": ["grammar"]}
    folder = RunFolder.create(path, config, about)
    for step in steps:
        log(folder, step=step, train_loss=5.0 - step / 100, seconds=step / 10)
    for step in checkpoints:
        folder.checkpoint(step).write_bytes(b"")
    if finished:
        folder.model.write_bytes(b"")
    return folder


def log(folder: RunFolder, **values: Any) -> None:
    folder.append(folder.metrics, values)


def say(folder: RunFolder, **event: Any) -> None:
    with folder.events.open("a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")
