import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect

from transformer_viz.shell.placement import FRAME, placed

LAPTOP = QRect(0, 24, 1280, 696)  # below a panel
BESIDE = QRect(1280, 0, 2560, 1440)

sides = st.integers(-40_000, 40_000)
lengths = st.integers(1, 40_000)


def test_a_window_that_fits_is_left_where_it_was() -> None:
    wanted = QRect(1400, 100, 1440, 900)
    assert placed(wanted, [LAPTOP, BESIDE]) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        QRect(0, 0, 1440, 900),
        QRect(100, 100, 32767, 32767),
        QRect(-5000, 10, 800, 600),
        QRect(0, 4000, 800, 600),
        QRect(1260, 50, 900, 600),  # of a screen that is gone, but for a corner
    ],
)
def test_a_window_ends_on_the_screen_that_is_there(wanted: QRect) -> None:
    found = placed(wanted, [LAPTOP])
    assert LAPTOP.contains(found.adjusted(0, -FRAME.height(), 0, 0))
    assert found.width() == min(wanted.width(), LAPTOP.width() - FRAME.width())
    assert found.height() == min(wanted.height(), LAPTOP.height() - FRAME.height())


def test_a_window_outside_all_screens_opens_in_the_middle_of_the_first() -> None:
    found = placed(QRect(9000, 9000, 800, 600), [LAPTOP, BESIDE])
    assert abs(found.center().x() - LAPTOP.center().x()) <= 1
    assert LAPTOP.contains(found)


@given(x=sides, y=sides, width=lengths, height=lengths)
def test_wherever_it_was_its_title_can_be_reached(x: int, y: int, width: int, height: int) -> None:
    found = placed(QRect(x, y, width, height), [LAPTOP, BESIDE])
    assert any(
        screen.contains(found.adjusted(0, -FRAME.height(), 0, 0)) for screen in (LAPTOP, BESIDE)
    )


def test_placing_it_again_changes_nothing() -> None:
    once = placed(QRect(-300, 700, 1440, 900), [LAPTOP, BESIDE])
    assert placed(once, [LAPTOP, BESIDE]) == once


@pytest.mark.parametrize("last", [None, [300, 200, 1440, 900], [5000, 5000, 1440, 900]])
@pytest.mark.parametrize(("side", "factor"), [((1280, 720), 1), ((2560, 1440), 2)])
def test_the_real_window_fits_a_small_screen(
    tmp_path: Path, last: list[int] | None, side: tuple[int, int], factor: int
) -> None:
    """`factor`: physical pixels of each logical one, as on a screen of high resolution."""
    width, height = (length // factor for length in side)
    screen = {"name": "one", "x": 0, "y": 0, "width": width, "height": height, "dpr": factor}
    screen |= {"logicalDpi": 96, "logicalBaseDpi": 96}
    screens, config = tmp_path / "screens.json", tmp_path / "config"
    screens.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    config.mkdir()
    if last is not None:
        (config / "settings.json").write_text(json.dumps({"geometry": last}), encoding="utf-8")
    code = (
        "import sys; from PySide6.QtCore import QTimer\n"
        "from transformer_viz.startup import app, launch\n"
        "class Window(app.Window):\n"
        "    def showEvent(self, event):\n"
        "        super().showEvent(event)\n"
        "        print(*self.geometry().getRect(), self.screen().devicePixelRatio())\n"
        "        QTimer.singleShot(0, self.close)\n"
        "app.Window = Window; sys.exit(launch.main(['--config-dir', sys.argv[1]]))"
    )
    environment = os.environ | {"QT_QPA_PLATFORM": f"offscreen:configfile={screens}"}
    command = [sys.executable, "-c", code, str(config)]
    shown = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert shown.returncode == 0, shown.stderr
    *rect, ratio = map(float, shown.stdout.split())
    assert ratio == factor
    assert QRect(0, 0, width, height).contains(QRect(*map(int, rect)))
