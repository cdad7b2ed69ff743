"""The log file: what went wrong, in the user's own folder, never what was typed."""

import logging
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs

from core.system import replace

MOST_BYTES = 500_000
OLD_FILES = 2
SHOWN_BYTES = 200_000
_NAME = "transformer-viz.log"
_PACKAGES = ("transformer-viz", "PySide6-Essentials", "torch", "numpy", "pyqtgraph", "pillow")


def log_folder(chosen: Path | None) -> Path:
    """The folder of the settings if one was given, else the user's own one for logs."""
    return chosen or Path(platformdirs.user_log_path("transformer-viz", appauthor=False))


def start_log(folder: Path) -> Path | None:
    """Send every warning and error of the program to a file there; None where none can be
    written, and the program then goes on without."""
    path = folder / _NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            path, maxBytes=MOST_BYTES, backupCount=OLD_FILES, encoding="utf-8", errors="replace"
        )
    except OSError:
        return None
    handler.rotator = _rotate
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.getLogger(__name__).info("Started: %s", "; ".join(versions()))
    return path


def _rotate(source: str, target: str) -> None:
    """Windows refuses while another window has the file open, which then grows on for a while."""
    with suppress(PermissionError):
        replace(Path(source), Path(target))


def end_log() -> None:
    """Close the file."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, RotatingFileHandler)]:
        root.removeHandler(handler)
        handler.close()
    logging.captureWarnings(False)


def read_log(path: Path) -> str:
    """The end of the log, from a whole line on."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - SHOWN_BYTES))
            data = file.read()
    except OSError as error:
        return f"The log cannot be read: {error.strerror}."
    if len(data) == SHOWN_BYTES:
        data = data.partition(b"\n")[2]
    return data.decode("utf-8", "replace")


def versions() -> list[str]:
    """The program, what it is built on, and the system: nothing about the user."""
    found = [f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} (not installed as a package)")
    return [*found, f"{platform.system()} {platform.release()} {platform.machine()}", sys.platform]
