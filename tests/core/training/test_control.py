from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from core.errors import UserError
from core.presets import preset
from core.training import trainer as trainer_module
from core.training.config import RunConfig
from core.training.control import read_wish
from core.training.events import Continued, Event, Interrupted, Paused
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.state import load_state


def test_what_is_asked_for_last_counts(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", preset("tiny"), {})
    assert folder.wish() is None
    folder.request("pause")
    assert folder.wish() == "pause"
    folder.request("stop")
    assert folder.wish() == "stop"
    folder.request(None)
    assert folder.wish() is None
    folder.request(None)


@pytest.mark.parametrize(
    ("content", "wish"),
    [(b"pause", "pause"), (b" stop \r\n", "stop"), (b"", None), (b"halt", None), (b"\xff", None)],
)
def test_a_file_written_by_hand(tmp_path: Path, content: bytes, wish: str | None) -> None:
    (tmp_path / "control").write_bytes(content)
    assert read_wish(tmp_path / "control") == wish


class Watcher:
    """Listens to a run; calls ``at_step[n]`` at the first event of update n, while it waits."""

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path)
        self.events: list[Event] = []
        self.at_step: dict[int, Callable[[], None]] = {}
        self.when_paused: Callable[[], None] = lambda: self.folder.request(None)

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Paused):
            self.when_paused()
        elif event.step in self.at_step:
            self.at_step.pop(event.step)()

    def names(self) -> list[str]:
        return [event.name for event in self.events]


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    return Watcher(tmp_path / "run")


def start(watcher: Watcher, config: RunConfig, stop: Callable[[], bool] = lambda: False) -> None:
    start_run(watcher.folder.path, config, command="c", tell=watcher, should_stop=stop)


def test_a_pause_waits_with_the_state_saved_and_changes_nothing(
    tmp_path: Path, copies: RunConfig, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = itertools.count()

    def asleep(seconds: float) -> None:
        assert load_state(watcher.folder.state).position.update == 4
        if next(waits) == 2:
            watcher.folder.request(None)

    monkeypatch.setattr(trainer_module.time, "sleep", asleep)
    watcher.at_step[4] = lambda: watcher.folder.request("pause")
    watcher.when_paused = lambda: None
    start(watcher, copies)
    at = watcher.names().index("paused")
    assert watcher.events[at : at + 2] == [
        Paused(step=4, run=str(watcher.folder.path)),
        Continued(step=4),
    ]
    assert watcher.names()[-1] == "finished"
    assert next(waits) == 3

    start_run(
        tmp_path / "whole", copies, command="c", tell=lambda _: None, should_stop=lambda: False
    )
    whole = safetensors.torch.load_file(RunFolder(tmp_path / "whole").state)
    paused = safetensors.torch.load_file(watcher.folder.state)
    assert whole.keys() == paused.keys()
    assert all(torch.equal(tensor, paused[name]) for name, tensor in whole.items())


def test_a_stop_ends_after_the_update_and_is_forgotten(copies: RunConfig, watcher: Watcher) -> None:
    watcher.at_step[4] = lambda: watcher.folder.request("stop")
    start(watcher, copies)
    assert watcher.events[-1] == Interrupted(step=4, run=str(watcher.folder.path))
    assert watcher.folder.wish() is None
    assert watcher.folder.owner() is None
    resume_run(watcher.folder.path, steps=None, tell=watcher, should_stop=lambda: False)
    assert watcher.names()[-1] == "finished"


@pytest.mark.parametrize("by", ["file", "signal"])
def test_a_stop_ends_a_pause(copies: RunConfig, watcher: Watcher, by: str) -> None:
    signals: list[str] = []
    watcher.at_step[4] = lambda: watcher.folder.request("pause")
    watcher.when_paused = lambda: (
        watcher.folder.request("stop") if by == "file" else signals.append("SIGTERM")
    )
    start(watcher, copies, lambda: bool(signals))
    assert watcher.names()[-2:] == ["paused", "interrupted"]


def test_what_was_asked_of_a_process_that_is_gone_is_forgotten(
    copies: RunConfig, watcher: Watcher
) -> None:
    start(watcher, copies, lambda: True)
    watcher.folder.request("stop")
    resume_run(watcher.folder.path, steps=None, tell=watcher, should_stop=lambda: False)
    assert watcher.names()[-1] == "finished"


def test_a_run_has_one_process(copies: RunConfig, watcher: Watcher) -> None:
    def second() -> None:
        with pytest.raises(UserError, match="is being trained by process"):
            resume_run(watcher.folder.path, steps=None, tell=print, should_stop=lambda: False)

    watcher.at_step[4] = second
    start(watcher, copies)
    assert not watcher.at_step
    assert watcher.names()[-1] == "finished"
