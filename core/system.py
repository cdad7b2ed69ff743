"""What differs between operating systems, and between an installed program and a bundle.

The rest of the program takes nothing about either for granted; it asks here. So another system is
one function and its test, which pretends to run there.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
"""The folder that contains the packages ``core``, ``resources`` and ``transformer_viz``."""

COMMAND = "transformer-viz"

_WAITS = (0.01, 0.05, 0.2, 0.5)  # seconds between attempts
_LONG = 200  # characters of a path; Windows refuses more than 260, and a name is still added
_LONGEST_NAME = 100  # characters
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_SIGNS = '/ \\ : * ? " < > |'
_FORBIDDEN = re.compile(rf"[{re.escape(_SIGNS.replace(' ', ''))}\x00-\x1f]")


def is_bundle() -> bool:
    """Return whether PyInstaller made this program, so that there is no Python to start."""
    return bool(getattr(sys, "frozen", False))


def module_command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command line that runs ``core`` or ``transformer_viz`` in a new process.

    In a bundle, the program starts itself: its one entry point tells commands and windows apart.
    The new process imports nothing from the current folder (``-P``); ``module_environment`` tells
    it where the packages are.
    """
    if not is_bundle():
        return [sys.executable, "-P", "-m", module, *arguments]
    program = sys.executable
    if sys.platform == "win32" and module == "core":  # what has no console cannot be listened to
        program = str(Path(program).with_name(f"{COMMAND}.exe"))
    return [program, *arguments]


def module_environment(path: str) -> dict[str, str]:
    """Return what has to be added to the environment of a ``module_command``.

    Args:
        path: the ``PYTHONPATH`` of the environment, or nothing.
    """
    # an empty entry would be the current folder
    folders = [str(HOME), *filter(None, path.split(os.pathsep))]
    return {
        "PYTHONPATH": os.pathsep.join(folders),
        "PYTHONSAFEPATH": "1",  # for the processes that it starts in turn
        "PYTHONUNBUFFERED": "1",
    }


def outside_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program that is not ours.

    The launcher of a bundle makes the libraries of the bundle come first and keeps the previous
    value beside; another program would be given libraries that it was not linked with.
    """
    changed = dict(environ)
    if is_bundle():
        for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
            before = changed.pop(f"{name}_ORIG", None)
            changed.pop(name, None)
            if before:
                changed[name] = before
    return changed


def ensure_output() -> None:
    """Give a program without an output something to write to, which goes nowhere.

    Python sets ``sys.stdout`` and ``sys.stderr`` to None where whoever started the program has
    closed them, and in a program of Windows that has no console.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def has_menus_of_freedesktop() -> bool:
    """Return whether desktops of this system read freedesktop.org's files: Linux and the BSDs."""
    return sys.platform not in ("win32", "darwin", "cygwin")


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask a process to end, as far as this system has them.

    These are Ctrl+C, SIGTERM, the closing of the terminal (SIGHUP) and Ctrl+Break (Windows). A
    SIGHUP that is ignored stays so, because ``nohup`` ignores it for what should go on.
    """
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    found = {name: getattr(signal, name) for name in names if hasattr(signal, name)}
    if "SIGHUP" in found and signal.getsignal(found["SIGHUP"]) is signal.SIG_IGN:
        del found["SIGHUP"]
    return tuple(found.values())


def give_way(niceness: int, pid: int = 0) -> None:
    """Let all other processes have the processor first, where the system can do that.

    Windows cannot be told by number and is left alone.

    Args:
        niceness: from 0 to 19; a process that is politer already stays so.
        pid: of another process; 0 is this one.
    """
    if hasattr(os, "setpriority"):
        with suppress(OSError):  # it has ended, or is not ours
            own = os.getpriority(os.PRIO_PROCESS, pid)
            os.setpriority(os.PRIO_PROCESS, pid, max(own, niceness))


def replace(source: Path, target: Path) -> None:
    """Rename a file over another one, atomically, and patiently on Windows.

    There, a file that any process has open cannot be replaced, and scanners and indexers open each
    new file for an instant.

    Raises:
        OSError: as ``os.replace`` does.
    """
    _patiently(lambda: os.replace(source, target))


def remove(path: Path) -> None:
    """Remove a file, if there is one; patiently, as ``replace`` does.

    Raises:
        OSError: as ``Path.unlink`` does.
    """
    _patiently(lambda: path.unlink(missing_ok=True))


def discard(path: Path) -> None:
    """Remove a file that is of no more use; if Windows refuses, leave it to the next time.

    Raises:
        OSError: another system refuses.
    """
    try:
        remove(path)
    except PermissionError:
        if sys.platform != "win32":
            raise


def _patiently(change: Callable[[], None]) -> None:
    for seconds in _WAITS if sys.platform == "win32" else ():
        try:
            return change()
        except PermissionError:
            time.sleep(seconds)
    change()


def any_length(path: str) -> str:
    r"""Return a path that may be as long as it is: on Windows, a long one as ``\\?\C:\…``."""
    if sys.platform != "win32" or len(path) < _LONG or path.startswith("\\\\?\\"):
        return path
    path = os.path.abspath(path)
    return f"\\\\?\\UNC{path[1:]}" if path.startswith("\\\\") else f"\\\\?\\{path}"


def name_problem(name: str) -> str:
    """Return why a folder cannot have that name on every system, as a sentence, or nothing.

    The rules are the same everywhere, because folders are copied from one system to another.
    """
    if not name.strip(". ") or _FORBIDDEN.search(name):
        return f"A folder needs a name without {_SIGNS} in it."
    if _RESERVED.fullmatch(name) or name.endswith((".", " ")):
        return f"Windows allows no folder called {name!r}; choose another name."
    return ""


def portable_name(title: str) -> str:
    """Return a title as a file name, without a suffix, that every system allows."""
    plain = re.sub(r"\W+", "-", title)[:_LONGEST_NAME].strip("-").lower()
    return f"{plain}-" if _RESERVED.fullmatch(plain) else plain


def shell_line(words: Sequence[str]) -> str:
    """Return a command as one types it into this system's usual shell."""
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    return shlex.join(words)
