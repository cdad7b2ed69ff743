"""A job that never ends keeps neither the window nor the process; what was to be saved is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import sys, threading
from PySide6.QtCore import QTimer
from transformer_viz.engine import {module} as module
from transformer_viz.startup import app, launch

started = threading.Event()
def hang(*_arguments):
    started.set()
    threading.Event().wait()
{patch}

start = app._start
def watched(window, controller, options):
    start(window, controller, options)
    {ask}
    def look():
        if started.is_set():
            window.show_text("kept")
            window.close()
        else:
            QTimer.singleShot(20, look)
    look()
app._start = watched
sys.exit(launch.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("module", "patch", "ask"),
    [
        ("backend", "module.TorchBackend.load = hang", "pass"),
        ("transfers", "pass", "controller.transfers.open(hang, print, print)"),
    ],
)
def test_closing_does_not_wait_for_ever(module: str, patch: str, ask: str, tmp_path: Path) -> None:
    script = SCRIPT.format(module=module, patch=patch, ask=ask)
    done = subprocess.run(
        [sys.executable, "-c", script, "--config-dir", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    saved = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert saved["text"] == "kept"
