"""A benchmark whose child fails ends with the reason, and does not hang."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks.child import output_of

CHILD = """
import sys
from PySide6.QtCore import QTimer
from tests.benchmarks.app_child import run_window
from tests.benchmarks.waiting import wait_until
from transformer_viz.startup import app

class Window(app.Window):
    def showEvent(self, event):
        super().showEvent(event)
        QTimer.singleShot(0, lambda: {body})

sys.exit(run_window(Window))
"""


@pytest.mark.parametrize(
    "body", ["1 / 0", "(QTimer.singleShot(0, lambda: 1 / 0), wait_until(lambda: False))"]
)
def test_an_error_in_a_slot_ends_the_process_with_its_traceback(tmp_path: Path, body: str) -> None:
    command = [sys.executable, "-c", CHILD.format(body=body), "--config-dir", str(tmp_path)]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert child.returncode == 1
    assert "Traceback" in child.stderr
    assert "ZeroDivisionError" in child.stderr


def test_the_window_of_the_heads_map_is_measured(tmp_path: Path) -> None:
    """The shortest of the windows' benchmarks, whole: it builds panels of its own."""
    measured = json.loads(output_of("heads_map_child", "--config-dir", str(tmp_path)))
    assert set(measured["seconds"]) == {"hover", "switch", "redraw", "point", "plots"}


def test_the_others_still_run_and_the_exit_code_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = []

    class Benchmark:
        def __init__(self, name: str) -> None:
            self._name = name

        def run(self) -> list[object]:
            ran.append(self._name)
            if self._name.endswith("bench_long"):
                raise subprocess.CalledProcessError(1, ["long_child"])
            return []

    monkeypatch.setattr(benchmarks.importlib, "import_module", Benchmark)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "long", "gates"])
    assert benchmarks.main() == 1
    assert [name.rpartition("_")[2] for name in ran] == ["long", "gates"]
    assert "failed: long\n" in capsys.readouterr().err
