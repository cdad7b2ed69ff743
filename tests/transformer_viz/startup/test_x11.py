"""The real program on a real X server: it opens, is closed by a signal, and ends well."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")


@pytest.fixture
def display() -> Iterator[str]:
    """The name of a virtual display that nothing else uses."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    assert server.stdout is not None
    try:
        yield f":{server.stdout.readline().strip()}"
    finally:
        server.terminate()
        server.communicate()


def test_the_window_opens_and_ends_with_its_process(display: str, tmp_path: Path) -> None:
    environment = os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.startup_child", "--config-dir", str(tmp_path)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert program.stdout is not None
    try:
        first = program.stdout.readline()
        time.sleep(1)  # as a person would, not within the first frame
        program.send_signal(signal.SIGTERM)
        _, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    assert (first, program.returncode, errors) == ("visible\n", 0, "")
