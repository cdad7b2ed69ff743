"""No process imports what merely lies in the current folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from core.training.ahead import Ahead
from transformer_viz.engine.launch import child
from transformer_viz.startup.entry import foreign_core, main

ROOT = Path(__file__).parents[1]
FOREIGN = ("core", "json", "numpy", "argparse", "multiprocessing", "random")


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder has modules of well-known names; whichever runs leaves a file."""
    for name in FOREIGN:
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(99)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return tmp_path


@pytest.mark.parametrize("path", [None, "", f"{os.pathsep}elsewhere", f"elsewhere{os.pathsep}"])
def test_the_children_of_the_window(
    path: str | None, trap: Path, qapp: QObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if path is not None:
        monkeypatch.setenv("PYTHONPATH", path)
    process = child(["corpus", "--count", "1"])
    process.start()
    assert process.waitForFinished(60_000)
    assert process.exitCode() == 0, bytes(process.readAllStandardError()).decode()
    assert not (trap / "ran").exists()


def test_a_grandchild_is_told_as_well(qapp: QObject) -> None:
    assert child([]).processEnvironment().value("PYTHONSAFEPATH") == "1"


def test_the_process_that_makes_the_next_epoch(trap: Path) -> None:
    script = (
        "import sys\n"
        f"sys.path.append({str(ROOT)!r})\n"
        "from core.training.ahead import Ahead\n"
        "if __name__ == '__main__':\n"
        "    ahead = Ahead(int)\n"
        "    ahead.request(3)\n"
        "    assert ahead.epoch(3) == 3\n"
        "    ahead.close()\n"
    )
    place = trap / "folder"
    place.mkdir()
    (place / "script.py").write_text(script)
    # as an installed command does: the folder of the script is first, not the current one
    subprocess.run([sys.executable, str(place / "script.py")], check=True, timeout=120)
    assert not (trap / "ran").exists()


def test_the_environment_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "", "1"):
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        if before is not None:
            monkeypatch.setenv("PYTHONSAFEPATH", before)
        ahead = Ahead(int)  # type: ignore[arg-type]
        ahead.request(1)
        ahead.close()
        assert os.environ.get("PYTHONSAFEPATH") == before


def test_without_safe_path_core_leaves_the_folder(tmp_path: Path) -> None:
    """What Python itself imports before `core` runs cannot be helped; all the rest can."""
    (tmp_path / "json.py").write_text("open('ran', 'w').close()\n")
    (tmp_path / "numpy.py").write_text("open('ran', 'w').close()\n")
    path = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    environment = {**os.environ, "PYTHONPATH": path}
    environment.pop("PYTHONSAFEPATH", None)
    subprocess.run(
        [sys.executable, "-m", "core", "corpus", "--count", "1"],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=120,
    )
    assert not (tmp_path / "ran").exists()


def test_a_foreign_core_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foreign_core() is None
    (tmp_path / "core.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "core"]:
        monkeypatch.delitem(sys.modules, name)
    assert foreign_core() == tmp_path / "core.py"
    assert main(["--version"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(tmp_path / "core.py") in said
    assert "environment of its own" in said
