"""Atomic writes: a reader sees the old file or the new one, never half of either."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.errors import UserError


def atomic_write(path: str | Path, write: Callable[[Path], None]) -> None:
    """Call ``write`` on a temporary file beside ``path``, flush it to disk, then rename it.

    Raises:
        UserError: the folder is missing, not writable or full. What stood at ``path`` stays.
    """
    path = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(descriptor)
        temporary = Path(name)
        try:
            write(temporary)
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.chmod(0o666 & ~_umask())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"Could not write {path}: {error.strerror or error}. "
            "What was there before is unchanged."
        ) from error


def atomic_write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text with \\n line ends, atomically."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(text.encode("utf-8"))

    atomic_write(path, write)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
