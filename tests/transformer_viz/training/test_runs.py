from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.errors import UserError
from core.presets import preset
from core.training.run_folder import RunFolder
from tests.transformer_viz.training.folders import make_run
from transformer_viz.engine.launch import train_arguments
from transformer_viz.training import runs as module
from transformer_viz.training.run import RunState
from transformer_viz.training.runs import Runs

pytestmark = pytest.mark.usefixtures("qapp")


class Launches:
    def __init__(self) -> None:
        self.made: list[list[str]] = []

    def __call__(self, path: Path, arguments: Sequence[str]) -> None:
        path.mkdir(parents=True, exist_ok=True)
        RunFolder(path).log_text.touch()
        self.made.append([word for word in arguments if word != str(path)])


@pytest.fixture
def launches() -> Launches:
    return Launches()


@pytest.fixture
def runs(tmp_path: Path, launches: Launches) -> Runs:
    return Runs(tmp_path / "runs", launch=launches)


def names(runs: Runs) -> list[str]:
    runs.watch()
    runs.stop()
    return [run.name for run in runs]


def test_a_folder_that_is_not_there_holds_no_runs(runs: Runs) -> None:
    assert names(runs) == []


def test_the_newest_is_first_and_what_is_no_run_is_left_out(runs: Runs) -> None:
    make_run(runs.folder / "old", started="2026-01-01T00:00:00+00:00")
    make_run(runs.folder / "new", started="2026-02-01T00:00:00+00:00")
    (runs.folder / "notes").mkdir()
    (runs.folder / "notes.txt").touch()
    assert names(runs) == ["new", "old"]


def test_a_run_that_was_started_elsewhere_appears_and_goes(runs: Runs, qtbot: QtBot) -> None:
    assert names(runs) == []
    folder = make_run(runs.folder / "one")
    with qtbot.waitSignal(runs.changed):
        names(runs)
    folder.record.unlink()
    with qtbot.waitSignal(runs.changed):
        assert names(runs) == []


def test_runs_from_elsewhere_are_remembered(runs: Runs, tmp_path: Path, qtbot: QtBot) -> None:
    make_run(tmp_path / "elsewhere")
    with qtbot.waitSignal(runs.knownChanged) as blocker:
        run = runs.open(tmp_path / "elsewhere")
    assert blocker.args == [(str(tmp_path / "elsewhere"),)]
    assert runs.is_known(run)
    again = Runs(runs.folder, blocker.args[0])
    assert names(again) == ["elsewhere"]
    runs.forget(run)
    assert names(runs) == []
    assert (tmp_path / "elsewhere" / "run.json").is_file()


def test_what_is_no_run_is_not_opened(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"not a run folder"):
        runs.open(tmp_path)


def test_a_new_run_is_listed_at_once(runs: Runs, launches: Launches) -> None:
    config = preset("tiny").with_settings({"steps": 7, "licence": "CC BY"})
    run = runs.begin("tiny", config, runs.folder / "tiny-1")
    assert run.state is RunState.STARTING
    assert [each.name for each in runs] == ["tiny-1"]
    expected = ["train", "tiny", "--out", "--data", "grammar", "--set"]
    assert launches.made == [[*expected, 'licence="CC BY"', "steps=7", "--json"]]
    assert runs.free_name("tiny") == "tiny-2"


def test_a_taken_folder_is_refused_before_anything_starts(runs: Runs, launches: Launches) -> None:
    make_run(runs.folder / "one")
    with pytest.raises(UserError, match="already contains a run"):
        runs.begin("tiny", preset("tiny"), runs.folder / "one")
    assert launches.made == []


def test_a_preset_as_it_is_needs_no_settings(tmp_path: Path) -> None:
    words = train_arguments("base", preset("base"), tmp_path)
    assert words == ["train", "base", "--out", str(tmp_path), "--data", "grammar", "--json"]


def test_pause_resume_and_stop_are_asked_for_through_the_folder(
    runs: Runs, launches: Launches
) -> None:
    folder = make_run(runs.folder / "one")
    names(runs)
    (run,) = runs
    with RunFolder(folder.path).lock:
        run.poll()
        runs.pause(run)
        assert run.state is RunState.PAUSED
        runs.resume(run)
        assert run.state is RunState.RUNNING
        runs.end(run)
        assert folder.wish() == "stop"
    assert launches.made == []
    run.poll()
    runs.resume(run, steps=300)
    assert launches.made == [["resume", "--steps", "300", "--json"]]
    assert run.state is RunState.STARTING


@pytest.fixture
def trash(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What was moved to the trash."""
    moved: list[Path] = []

    def move(name: str) -> bool:
        moved.append(Path(name))
        module._remove(Path(name))
        return True

    monkeypatch.setattr(module.QFile, "moveToTrash", move)
    return moved


def test_a_running_run_is_not_deleted_and_a_stopped_one_is(runs: Runs, trash: list[Path]) -> None:
    folder = make_run(runs.folder / "one", checkpoints=[10])
    names(runs)
    (run,) = runs
    with RunFolder(folder.path).lock, pytest.raises(UserError, match="one is running"):
        runs.delete(run)
    assert folder.record.is_file()
    assert runs.delete(run) == []
    assert trash == [folder.path]
    assert not folder.path.exists()
    assert len(runs) == 0


@pytest.mark.parametrize("for_good", [False, True])
def test_other_files_in_the_folder_stay(runs: Runs, trash: list[Path], for_good: bool) -> None:
    folder = make_run(runs.folder / "one", checkpoints=[10, 20])
    others = [
        folder.path / "thesis.docx",
        folder.path / "figures" / "a.png",
        folder.path / "checkpoints" / "notes.txt",
    ]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    elsewhere = runs.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "step-000001.safetensors").write_text("mine")
    (folder.path / "best").symlink_to(elsewhere)
    names(runs)
    (run,) = runs
    kept = runs.delete(run, for_good=for_good)
    assert set(kept) == {others[0], others[1].parent, others[2], folder.path / "best"}
    assert all(path.read_text() == "mine" for path in others)
    assert (elsewhere / "step-000001.safetensors").read_text() == "mine"
    left = {path for path in folder.path.rglob("*") if path.is_file()}
    assert left == set(others)
    assert len(runs) == 0
    if not for_good:
        assert trash[-1] == folder.record  # until the end the run can be tried again


def test_nothing_is_deleted_for_good_unasked(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.QFile, "moveToTrash", lambda _name: False)
    folder = make_run(runs.folder / "one", checkpoints=[10])
    names(runs)
    (run,) = runs
    with pytest.raises(module.NoTrashError):
        runs.delete(run)
    assert folder.checkpoint(10).is_file()
    assert len(runs) == 1
    runs.delete(run, for_good=True)
    assert not folder.path.exists()
