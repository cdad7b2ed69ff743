"""Several files at once, and files that the system asks an open window to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from tests.transformer_viz.models import save_tiny_model
from tests.transformer_viz.startup.test_app import ROOT, environment, run_watched, stored_trace
from transformer_viz.startup.opened_files import MOST_WINDOWS, FileRequests


class Desk:
    """What was shown here, started elsewhere, and said."""

    def __init__(self, parent: QObject, *options: str, starts: bool = True) -> None:
        self.shown: list[Path] = []
        self.started: list[list[str]] = []
        self.said: list[str] = []
        self.starts = starts
        self.requests = FileRequests(self.shown.append, parent, options=options, launch=self.launch)
        self.requests.refused.connect(self.said.append)

    def launch(self, arguments: list[str]) -> bool:
        self.started.append(arguments)
        return self.starts


def test_files_that_come_together_open_a_window_each(qapp: QObject, qtbot: QtBot) -> None:
    desk = Desk(qapp, "--theme", "dark")
    for name in ("a.tviz", "b.npz", "-c.tviz"):
        desk.requests.add(Path("/there") / name)
    qtbot.waitUntil(lambda: bool(desk.shown))
    assert desk.shown == [Path("/there/a.tviz")]
    others = [str(Path("/there", name).absolute()) for name in ("b.npz", "-c.tviz")]
    assert desk.started == [["--theme", "dark", "--", other] for other in others]
    desk.requests.add(Path("/there/later.tviz"))
    qtbot.waitUntil(lambda: len(desk.shown) == 2)
    assert len(desk.started) == 2
    assert not desk.said


def test_a_hundred_files_are_not_a_hundred_windows(qapp: QObject) -> None:
    desk = Desk(qapp)
    desk.requests.open_elsewhere([Path(f"{number}.tviz") for number in range(99)])
    assert len(desk.started) == MOST_WINDOWS - 1
    assert desk.said == ["100 files were to be opened; only the first 8 were."]


def test_all_of_as_many_as_there_may_be(qapp: QObject) -> None:
    desk = Desk(qapp)
    desk.requests.open_elsewhere([Path(f"{number}.tviz") for number in range(MOST_WINDOWS - 1)])
    assert len(desk.started) == MOST_WINDOWS - 1
    assert not desk.said


def test_a_window_that_does_not_start_is_said_once(qapp: QObject) -> None:
    desk = Desk(qapp, starts=False)
    desk.requests.open_elsewhere([Path("a.tviz"), Path("b.tviz")])
    assert desk.said == ["No window could be started for a.tviz."]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return stored_trace(tmp_path / "a b.npz")


def test_an_event_of_the_system_opens_a_file(tmp_path: Path, trace: Path) -> None:
    """As macOS sends it when a file is double-clicked."""
    tiny = save_tiny_model(tmp_path / "tiny.safetensors")
    watch = (
        "from PySide6.QtGui import QFileOpenEvent; "
        "from PySide6.QtWidgets import QApplication; "
        f"QApplication.sendEvent(QApplication.instance(), QFileOpenEvent({str(trace)!r})); "
        "window._session.traceChanged.connect(lambda _=None: (window._session.trace is not None "
        "and not window._session.trace.target_tokens "
        "and (print('shown'), QApplication.exit())))"
    )
    done = run_watched(watch, tiny, "--config-dir", tmp_path / "settings")
    assert "shown" in done.stdout, done.stderr


def test_a_second_file_starts_a_second_window(tmp_path: Path, trace: Path) -> None:
    tiny = save_tiny_model(tmp_path / "tiny.safetensors")
    script = (
        "import sys\n"
        "from transformer_viz.startup import launch, opened_files\n"
        "opened_files._start_window = lambda arguments: print(*arguments, sep='|') or True\n"
        "from transformer_viz.startup import app\n"
        "app._start = lambda *rest: app.QApplication.exit()\n"
        "sys.exit(launch.main(sys.argv[1:]))\n"
    )
    folder = tmp_path / "settings"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tiny), str(trace), "--config-dir", str(folder)],
        cwd=ROOT,
        env=environment(QT_QPA_PLATFORM="offscreen"),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == f"--config-dir|{folder}|--|{trace}\n"
