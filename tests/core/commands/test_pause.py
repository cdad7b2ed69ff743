from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import UserError
from core.presets import preset
from core.training.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", preset("tiny"), {})


@pytest.mark.parametrize("wish", ["pause", "stop"])
def test_a_run_is_asked_through_its_folder(
    folder: RunFolder,
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    wish: str,
) -> None:
    with folder.lock:
        assert command(wish, folder.path) == 0
    assert folder.wish() == wish
    assert f"Resume it with: transformer-viz resume {folder.path}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pause", "stop"])
def test_nobody_is_there_to_ask(
    folder: RunFolder, command: Callable[..., int], name: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"No process is training .*nothing to pause or stop"):
        command(name, folder.path)
    assert folder.wish() is None
    with pytest.raises(UserError, match="not a run folder"):
        command(name, tmp_path)


def test_resume_ends_a_pause(
    folder: RunFolder, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    with folder.lock:
        folder.request("pause")
        assert command("resume", folder.path) == 0
        assert folder.wish() is None
        assert "resumes" in capsys.readouterr().err


def test_resume_leaves_a_run_alone_that_is_trained(
    folder: RunFolder, command: Callable[..., int]
) -> None:
    with folder.lock, pytest.raises(UserError, match="is being trained by process"):
        command("resume", folder.path)
