"""Atomic writes: a reader sees the old file or the new one, never half of either. And what to say
of files that cannot be read or written."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from core.errors import UserError

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}|\.tmp[0-9A-Za-z]{6}")  # ours, and safetensors' own


def atomic_write(path: str | Path, write: Callable[[Path], None]) -> None:
    """Call ``write`` on a new file beside ``path``, flush it to disk, then rename it.

    A symbolic link stays one: what it points to is replaced.

    Raises:
        UserError: the folder is missing, not writable or full, or ``path`` is a folder or a
            device. What stood at ``path`` stays.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        if target.exists() and not target.is_file():
            raise UserError(f"{path} is not a file that could be replaced; give another name.")
        temporary.open("xb").close()
        mode = stat.S_IMODE(temporary.stat().st_mode)
        try:
            write(temporary)
            temporary.chmod(mode)  # safetensors puts a private file in its place
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"{write_problem(path, error)} What was there before is unchanged."
        ) from error


def read_problem(path: str | Path, error: OSError) -> str:
    """A sentence on a file that could not be read."""
    if isinstance(error, FileNotFoundError):
        return f"{path} does not exist; check the name."
    if isinstance(error, PermissionError):
        return f"{path} may not be read; change its permissions."
    return f"Could not read {path}: {error.strerror or error}."


def write_problem(path: str | Path, error: OSError) -> str:
    """A sentence on a file that could not be written."""
    text = f"Could not write {path}: {error.strerror or error}"
    return f"{text}; free some space." if error.errno == errno.ENOSPC else f"{text}."


def drop_oldest(directory: Path, pattern: str, *, keep: int) -> None:
    """Remove the files of this pattern but the ``keep`` last written."""
    files = sorted(directory.glob(pattern), key=lambda path: path.stat().st_mtime)
    for path in files[:-keep]:
        path.unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove what ``atomic_write`` left there when its process was killed.

    Only for a folder in which nobody writes at that moment.
    """
    for path in directory.iterdir():
        if is_leftover(path):
            path.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    return _TEMPORARY.fullmatch(path.name) is not None


def atomic_write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text with \\n line ends, atomically."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(text.encode("utf-8"))

    atomic_write(path, write)
