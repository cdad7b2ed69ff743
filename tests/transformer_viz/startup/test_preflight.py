import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_viz.startup import preflight

ROOT = Path(__file__).resolve().parents[3]
SONAME = re.compile(rb"\0(lib[\w.+-]+\.so\.\d+)(?=\0)")


def check(
    *,
    offscreen: bool = False,
    missing: set[str] = frozenset(),  # type: ignore[assignment]
    reaches: bool = True,
    platform: str = "linux",
    **environ: str,
) -> str | None:
    return preflight.problem(
        offscreen=offscreen,
        environ=environ,
        platform=platform,
        loads=lambda library: library not in missing,
        reaches_x11=lambda: reaches,
    )


@pytest.mark.parametrize(
    "environ",
    [{"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}, {"QT_QPA_PLATFORM": "offscreen"}],
)
def test_a_working_machine_has_no_problem(environ: dict[str, str]) -> None:
    assert check(**environ) is None


def test_no_display_names_the_headless_commands() -> None:
    said = check()
    assert said is not None
    assert "display" in said
    assert "transformer-viz translate" in said
    assert "--screenshot" in said


def test_a_chosen_platform_still_needs_its_display() -> None:
    assert check(QT_QPA_PLATFORM="xcb", WAYLAND_DISPLAY="wayland-0") is not None


def test_a_screenshot_needs_no_display() -> None:
    assert check(offscreen=True) is None
    assert check(offscreen=True, missing={"libxcb-cursor.so.0"}) is None


def test_missing_libraries_are_named_by_package() -> None:
    said = check(DISPLAY=":0", missing={"libxcb-cursor.so.0", "libEGL.so.1"})
    assert said is not None
    assert "apt-get install libegl1 libxcb-cursor0" in said


def test_wayland_needs_no_xcb_library() -> None:
    assert check(WAYLAND_DISPLAY="wayland-0", missing={"libxcb-cursor.so.0"}) is None


def test_a_display_that_does_not_answer_is_named() -> None:
    said = check(DISPLAY=":77", reaches=False)
    assert said is not None
    assert "':77'" in said
    assert "transformer-viz translate" in said


def test_only_linux_is_checked() -> None:
    assert check(platform="win32") is None
    assert check(platform="darwin") is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux libraries")
def test_the_tables_name_just_what_qt_links() -> None:
    import PySide6

    qt = Path(PySide6.__file__).parent / "Qt"
    parts = [qt / "plugins/platforms/libqxcb.so"]
    parts += [qt / f"lib/libQt6{name}.so.6" for name in ("XcbQpa", "Gui", "DBus")]
    names = {name for part in parts for name in SONAME.findall(part.read_bytes())}
    linked = {name.decode() for name in names}
    known = preflight.GUI_LIBRARIES.keys() | preflight.XCB_LIBRARIES.keys()
    assert known <= linked
    assert {name for name in linked if name.startswith(("libxcb", "libX", "libxkb"))} <= known


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a display is a matter of Linux")
def test_the_program_says_so_and_exits_with_2() -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environ = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("transformer-viz: There is no display")
    assert done.stderr.count("\n") == 1
