"""The ground of all reading and writing: probes that never raise, writes that are atomic (a reader
sees the old file or the new one, never half of either), and sentences for what fails."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from core.errors import UserError
from core.system import any_length, discard, replace

_SUFFIX = ".transformer-viz"  # of a folder in which a file is being written
_LEFTOVER = re.compile(rf"\.[0-9a-f]{{8}}{re.escape(_SUFFIX)}")
_STALE_SECONDS = 3600.0  # no write takes that long
_LONGEST_SHOWN = 400  # characters of a path
_NONBLOCKING: int = getattr(os, "O_NONBLOCK", 0)  # not on Windows
_BINARY: int = getattr(os, "O_BINARY", 0)  # only on Windows


def is_there(path: str | Path) -> bool:
    """Whether something is at ``path``; False where the system does not let one know.

    For every probe of a path that comes from a file, an argument or a drop. Before Python 3.14
    ``Path.exists`` raises for a folder that one may not enter, a name that is too long and a mount
    that is gone. Whoever goes on to open such a path gets the reason.
    """
    return os.path.exists(path)


def is_file(path: str | Path) -> bool:
    """Whether a regular file, or a link to one, is at ``path``; see ``is_there``."""
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """Whether a folder, or a link to one, is at ``path``; see ``is_there``."""
    return os.path.isdir(path)


def is_same(path: str | Path, other: str | Path) -> bool:
    """Whether both name one file or folder; False where that cannot be told."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def open_regular(path: str | Path, *, most: int | None = None) -> BinaryIO:
    """Open a regular file for reading; nothing that would block or never end.

    Args:
        most: the largest size in bytes that is read.

    Raises:
        UserError: there is no such file, it may not be read, it is a folder, a pipe or a device,
            or it is larger than ``most``.
    """
    try:
        descriptor = os.open(any_length(str(path)), os.O_RDONLY | _NONBLOCKING | _BINARY)
    except OSError as error:
        raise UserError(read_problem(path, error)) from error
    except ValueError as error:  # a zero character in the name
        raise UserError(f"{str(path)!r} is not a file name.") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise UserError(f"{path} is {what}, not a file.")
    if most is not None and status.st_size > most:
        os.close(descriptor)
        raise UserError(
            f"{path} is too large: it has {status.st_size:,} bytes and the limit is {most:,}."
        )
    return os.fdopen(descriptor, "rb")


def read_regular(path: str | Path, *, most: int) -> bytes:
    """The content of a regular file of at most ``most`` bytes.

    Raises:
        UserError: as ``open_regular`` does, or reading fails.
    """
    with open_regular(path, most=most) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise UserError(read_problem(path, error)) from error
    if len(data) > most:  # it has grown since, or, as under /proc, has no size
        raise UserError(f"{path} is too large: the limit is {most:,} bytes.")
    return data


def atomic_write(path: str | Path, write: Callable[[Path], None], *, private: bool = False) -> None:
    """Call ``write`` on a new file, flush it to disk, then put it in the place of ``path``.

    A symbolic link stays one: what it points to is replaced. The file keeps its permissions. The
    new file lies in a hidden folder beside ``path`` meanwhile, with whatever else ``write`` puts
    there; such folders that killed writes left more than an hour ago are removed.

    Args:
        private: a file that is new may be read by its owner alone.

    Raises:
        UserError: the folder is missing, not writable or full, or ``path`` is a folder or a
            device. What stood at ``path`` stays.
    """
    target = Path(any_length(os.path.realpath(path)))
    folder = target.with_name(f".{secrets.token_hex(4)}{_SUFFIX}")
    temporary = folder / target.name
    try:
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            raise UserError(f"{path} is not a file that could be replaced; give another name.")
        folder.mkdir()
        try:
            temporary.open("xb").close()
            if mode is None:
                mode = 0o600 if private else temporary.stat().st_mode
            write(temporary)
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.chmod(stat.S_IMODE(mode))  # a writer may put a private file in its place
            replace(temporary, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"{write_problem(path, error)} What was there before is unchanged."
        ) from error
    remove_leftovers(target.parent, older_than=_STALE_SECONDS)


def _mode(target: Path) -> int | None:
    """The type and permissions of what is there; None if nothing is."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def shown_path(path: str | Path) -> str:
    """How a sentence names a path: whole, but for the middle of one that is longer than any."""
    name = str(path)
    if len(name) <= _LONGEST_SHOWN:
        return name
    half = _LONGEST_SHOWN // 2
    return f"{name[:half]}…{name[-half:]}"


def read_problem(path: str | Path, error: OSError) -> str:
    """A sentence on a file that could not be read."""
    if isinstance(error, FileNotFoundError):
        return f"{shown_path(path)} does not exist; check the name."
    if isinstance(error, PermissionError):
        return f"{shown_path(path)} may not be read; change its permissions."
    return f"Could not read {shown_path(path)}: {error.strerror or error}."


def write_problem(path: str | Path, error: OSError) -> str:
    """A sentence on a file that could not be written."""
    text = f"Could not write {shown_path(path)}: {error.strerror or error}"
    return f"{text}; free some space." if error.errno == errno.ENOSPC else f"{text}."


def drop_oldest(directory: Path, pattern: str, *, keep: int) -> None:
    """Remove the files of this pattern but the ``keep`` last written."""
    files = sorted(directory.glob(pattern), key=lambda path: path.stat().st_mtime)
    for path in files[:-keep]:
        discard(path)


def remove_leftovers(directory: Path, *, older_than: float) -> None:
    """Remove what ``atomic_write`` left there when its process was killed.

    Args:
        older_than: in seconds; 0 only for a folder in which nobody writes at that moment.
    """
    newest = time.time() - older_than
    for path in _entries(directory):
        if is_leftover(path) and _changed_at(path) <= newest:
            shutil.rmtree(path, ignore_errors=True)


def _entries(directory: Path) -> list[Path]:
    """What is in the folder; nothing where that may not be read."""
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # gone meanwhile
        return float("inf")


def is_leftover(path: Path) -> bool:
    """Whether the name is that of a folder of ``atomic_write``."""
    return _LEFTOVER.fullmatch(path.name) is not None


def atomic_write_text(path: str | Path, text: str, *, private: bool = False) -> None:
    """Write UTF-8 text with \\n line ends, as ``atomic_write`` does."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(text.encode("utf-8"))

    atomic_write(path, write, private=private)
