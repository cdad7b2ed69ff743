"""Whatever lies on disk, the window opens; where it cannot be built, the process ends."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
REPORT = """
def report():
    shown = window._session.model
    print(window.isVisible(), shown.name if shown else "none", "|", window.notice.text)
    os.kill(os.getpid(), signal.SIGINT)
controller.settled.connect(lambda *_: controller._session.trace and report())
"""


def start(folder: Path, *options: str, prepare: str = "") -> subprocess.CompletedProcess[str]:
    """The application on these settings, closed once it shows a translation.

    Args:
        prepare: statements that run before it starts.
    """
    script = f"""
import os, signal, sys
from tests.permissions import counting_permissions
from transformer_viz.startup import app, launch
permissions = counting_permissions()
permissions.__enter__()
start = app._start
def watched(window, controller, options):
{"".join(f"    {line}{chr(10)}" for line in REPORT.splitlines())}
    start(window, controller, options)
app._start = watched
{prepare}
sys.exit(launch.main(sys.argv[1:]))
"""
    return subprocess.run(
        [sys.executable, "-c", script, "--config-dir", str(folder), *options],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=40,
    )


@pytest.fixture
def locked(tmp_path: Path) -> Any:
    """A path in a folder that may not be entered."""
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "model.safetensors").touch()
    folder.chmod(0o000)
    yield folder / "model.safetensors"
    folder.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no such permissions")
@pytest.mark.parametrize("kind", ["locked", "too long"])
def test_paths_that_may_not_be_probed_keep_no_window_from_opening(
    tmp_path: Path, locked: Path, kind: str
) -> None:
    path = str(locked) if kind == "locked" else "/" + "x" * 5_000 + "/model.safetensors"
    values = {"recent_files": [path], "second_model": path, "model": path, "trace": path}
    config = tmp_path / "config"
    config.mkdir()
    (config / "settings.json").write_text(json.dumps(values))
    done = start(config)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("True demo-en-de | ")


def test_a_part_that_cannot_be_restored_is_dropped_alone_and_said(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"alpha": 1.5, "second_text": "Other."}')
    broken = "def fail(*_): raise RuntimeError('broken')\n" + (
        "from transformer_viz.compare.comparison import Comparison\nComparison.choose_text = fail\n"
    )
    done = start(tmp_path, prepare=broken)
    assert done.returncode == 0, done.stderr
    assert "These settings of the last session could not be restored: comparison." in done.stdout
    assert "The previous file is kept as settings.json.bad." in done.stdout
    kept = json.loads((tmp_path / "settings.json.bad").read_text())
    assert kept == {"alpha": 1.5, "second_text": "Other."}


def test_a_window_that_cannot_be_built_ends_the_process(tmp_path: Path) -> None:
    broken = "def fail(*_): raise RuntimeError('no window')\napp.Window.__init__ = fail\n"
    done = start(tmp_path, prepare=broken)
    assert done.returncode == 1
    assert "RuntimeError: no window" in done.stderr


def test_reset_starts_afresh_and_keeps_the_settings_beside(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"alpha": 1.5}')
    done = start(tmp_path, "--reset")
    assert done.returncode == 0, done.stderr
    assert "Starting with default settings; the previous ones are kept as" in done.stdout
    assert json.loads((tmp_path / "settings.json").read_text())["alpha"] == 0.6
    (kept,) = tmp_path.glob("settings.json.2*")
    assert kept.read_text() == '{"alpha": 1.5}'
