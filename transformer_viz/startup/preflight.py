"""Checks before Qt starts, where a missing display or library would end in an abort.

Qt itself blames a library when there is no display, and aborts; both are told apart here, in
the user's words. Only Linux needs it: on Windows and macOS Qt brings all that it uses.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Mapping

HEADLESS = (
    "Without a display, use a command, for example: transformer-viz translate 'The animal "
    "slept.', or save the window as a picture: transformer-viz --screenshot OUT.png"
)

# soname -> Debian package, as linked by QtGui and by its xcb platform plugin
GUI_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libX11.so.6": "libx11-6",
    "libxcb.so.1": "libxcb1",
}
XCB_LIBRARIES = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def problem(
    *,
    offscreen: bool,
    environ: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
    loads: Callable[[str], bool] | None = None,
    reaches_x11: Callable[[], bool] | None = None,
) -> str | None:
    """Return why no window can open here, in one or two sentences, or None.

    `offscreen` says that none has to be seen. The last two arguments stand in for the machine
    in tests: whether a shared library loads, and whether the X server of DISPLAY answers.
    """
    if not platform.startswith("linux"):
        return None
    loads = loads or _loads
    backend = "offscreen" if offscreen else _backend(environ)
    if backend is None:
        return f"There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set). {HEADLESS}"
    missing = missing_packages(GUI_LIBRARIES | (XCB_LIBRARIES if backend == "xcb" else {}), loads)
    if missing:
        return (
            f"Qt needs system libraries that are not installed. On Debian or Ubuntu: "
            f"apt-get install {' '.join(missing)}"
        )
    if backend == "xcb" and not (reaches_x11 or _reaches_x11)():
        display = environ.get("DISPLAY", "")
        return f"The display {display!r} (DISPLAY) cannot be reached. {HEADLESS}"
    return None


def missing_packages(
    libraries: Mapping[str, str], loads: Callable[[str], bool] | None = None
) -> list[str]:
    """The Debian packages of those libraries that this machine cannot load."""
    loads = loads or _loads
    return sorted({package for name, package in libraries.items() if not loads(name)})


def _backend(environ: Mapping[str, str]) -> str | None:
    """The Qt platform plugin that will run, or None where there is nothing to show it on."""
    chosen = environ.get("QT_QPA_PLATFORM", "").partition(";")[0].partition(":")[0]
    if chosen not in ("", "xcb", "wayland"):
        return chosen
    if environ.get("WAYLAND_DISPLAY") and chosen != "xcb":
        return "wayland"
    return "xcb" if environ.get("DISPLAY") else None


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _reaches_x11() -> bool:
    """Whether the X server answers. A connection that was made stays open until the process ends:
    a server that loses its last client, as a virtual one may, resets and refuses the next."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    if xcb.xcb_connection_has_error(connection):
        xcb.xcb_disconnect(connection)
        return False
    return True
