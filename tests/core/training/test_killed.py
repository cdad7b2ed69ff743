"""A run that is killed, wherever it is, and resumed ends as if nothing had happened."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import safetensors.torch
import torch

from core import files
from core.decoding.translate import Translation
from core.training import validation
from core.training.config import RunConfig
from core.training.events import CheckpointSaved, Event
from core.training.lock import Lock
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.state import load_state

CLOCK = ("tokens_per_second", "seconds", "other_seconds")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def quick_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss is enough to tell models apart."""

    def translate(
        model: object, tokenizer: object, texts: list[str], search: object
    ) -> list[Translation]:
        return [Translation(text) for text in texts]

    monkeypatch.setattr(validation, "translate", translate)


@pytest.fixture
def short(copies: RunConfig) -> RunConfig:
    """Few updates, between which everything is written that a run can write."""
    return copies.with_settings(
        {
            "steps": 4,
            "log_every": 2,
            "validate_every": 3,
            "checkpoint_every": 2,
            "keep_checkpoints": 1,
            "average_last": 1,
            "keep_best": 1,
            "best_by": "valid_loss",
            "validation_pairs": 1,
            "probe_points": 0,
        }
    )


def require_equal(first: RunFolder, second: RunFolder) -> None:
    """The same files with the same content, times excepted."""
    names = [
        {
            str(path.relative_to(folder.path))
            for path in folder.path.rglob("*")
            if path.is_file() and path.name != "lock"
        }
        for folder in (first, second)
    ]
    assert names[0] == names[1]
    for name in sorted(names[0]):
        ours, theirs = first.path / name, second.path / name
        if name.endswith(".safetensors") and not name.startswith("state/"):
            assert ours.read_bytes() == theirs.read_bytes(), name
        elif name.endswith(".safetensors"):  # its position holds times
            mine, other = safetensors.torch.load_file(ours), safetensors.torch.load_file(theirs)
            assert mine.keys() == other.keys()
            for key, tensor in mine.items():
                assert torch.equal(tensor, other[key]), (name, key)
        elif name.endswith(".jsonl"):
            assert lines(ours) == lines(theirs), name
        elif name.endswith(".npz"):
            assert ours.read_bytes() == theirs.read_bytes(), name


def lines(path: Path) -> list[dict[str, Any]]:
    """Without what depends on the clock."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in line.items() if key not in CLOCK} for line in found]


def require_announced(folder: RunFolder, announced: list[Path]) -> None:
    """The newest of each folder is whole, and the state is not older."""
    for directory in ("checkpoints", "best"):
        paths = [path for path in announced if path.parent.name == directory]
        if paths:
            safetensors.torch.load_file(paths[-1])
            step = int(paths[-1].stem.removeprefix("step-"))
            assert load_state(folder.state).position.update >= step


class KilledError(BaseException):
    """What no handler in the program catches."""


class Killer:
    """Makes the n-th change of a file, and every later one, impossible."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.changes = 0

    @property
    def struck(self) -> bool:
        return self.changes >= self.at

    def before(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def killed_or_changed(*args: Any, **kwargs: Any) -> Any:
            self.changes += 1
            if self.struck:
                raise KilledError
            return change(*args, **kwargs)

        return killed_or_changed


def run_until_killed(path: Path, config: RunConfig, at: int, tell: Callable[[Event], None]) -> bool:
    """Whether it was killed, and did not end before."""
    killer = Killer(at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.os, "replace", killer.before(os.replace))
        patch.setattr(files.os, "fsync", lambda descriptor: None)
        patch.setattr(files.shutil, "rmtree", killer.before(shutil.rmtree))
        patch.setattr(Path, "unlink", killer.before(Path.unlink))
        patch.setattr(RunFolder, "append", killer.before(RunFolder.append))
        patch.setattr(Lock, "__exit__", lambda self, *_: os.close(self._descriptor))
        try:
            start_run(path, config, command="c", tell=tell, should_stop=lambda: False)
        except KilledError:
            return True
    return False


def test_killed_before_any_change_of_a_file(tmp_path: Path, short: RunConfig) -> None:
    whole = RunFolder(tmp_path / "whole")
    start_run(whole.path, short, command="c", tell=lambda _: None, should_stop=lambda: False)
    for at in itertools.count(1):
        folder = RunFolder(tmp_path / f"killed-{at}")
        announced: list[Path] = []

        def tell(event: Event, announced: list[Path] = announced) -> None:
            if isinstance(event, CheckpointSaved):
                announced.append(Path(event.path))

        if not run_until_killed(folder.path, short, at, tell):
            break
        require_announced(folder, announced)
        if not folder.record.exists():
            start_run(folder.path, short, command="c", tell=tell, should_stop=lambda: False)
        elif not folder.model.exists():
            resume_run(folder.path, steps=None, tell=tell, should_stop=lambda: False)
        require_equal(whole, folder)
    assert at > 25


SERVER = """
import os, sys
from core.cli import main
import core.training.run
import torch._dynamo  # what the first optimizer of a process imports

print("ready", flush=True)
for line in sys.stdin:
    *words, log = line.rstrip("\\n").split("\\t")
    pid = os.fork()
    if pid == 0:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(main(words))
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Server:
    """Runs commands in processes that need not import torch first."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def run(self, *words: str | Path, kill_after: float | None = None) -> int:
        """The exit code, negative for a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*words, self.log, sep="\t", file=self._process.stdin, flush=True)
        pid = int(self._process.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            with suppress(ProcessLookupError):  # it was faster
                os.kill(pid, signal.SIGKILL)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()

    def announced(self) -> list[Path]:
        if not self.log.exists():
            return []
        events = [json.loads(line) for line in self.log.read_bytes().split(b"\n")[:-1]]
        return [Path(event["path"]) for event in events if event["event"] == "checkpoint"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_killed_by_the_system_at_random_moments(tmp_path: Path, short: RunConfig) -> None:
    settings = {"steps": 60, "validate_every": 20, "checkpoint_every": 3}
    (tmp_path / "config.json").write_text(
        json.dumps(short.with_settings(settings).to_dict()), encoding="utf-8"
    )
    random = Random(1)
    server = Server(tmp_path / "events.jsonl")
    whole, folder = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "killed")

    def command(to: RunFolder) -> tuple[str | Path, ...]:
        if to.record.exists():
            return "resume", to.path, "--json"
        return "train", tmp_path / "config.json", "--out", to.path, "--json"

    try:
        began = time.monotonic()
        assert server.run(*command(whole)) == 0
        duration = time.monotonic() - began
        server.log.unlink()
        kills = 0
        for _ in range(4):
            code = server.run(*command(folder), kill_after=duration * random.uniform(0.2, 0.6))
            kills += code == -signal.SIGKILL
            if folder.record.exists():
                require_announced(folder, server.announced())
            if folder.model.exists():
                break
        assert kills > 0
        if not folder.model.exists():
            assert server.run(*command(folder)) == 0
    finally:
        server.close()
    require_equal(whole, folder)
