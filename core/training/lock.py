"""One process trains a run: the operating system's lock on a file, which ends with its holder.

The file says who holds it, as JSON: pid, host, started. A process that was killed leaves the file
behind and no lock on it, so nothing has to be guessed from an old pid.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from core.errors import UserError
from core.files import is_there

_TRIES = 10  # somebody who asks for the owner holds the lock for an instant
_SECONDS_BETWEEN_TRIES = 0.05

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # a locked byte cannot be read, so the one behind the text is locked

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    # Some network file systems have none, and training goes on without.
    _NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return True


class Lock:
    """A lock that this process holds exclusively while entered."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def __enter__(self) -> Lock:
        """Raises UserError if another process holds it, or the file cannot be written."""
        try:
            self._descriptor = self._acquire()
            self._write(self._descriptor)
        except OSError as error:
            self._release()
            raise UserError(
                f"{self.path} could not be locked: {error.strerror or error}. Close other "
                "programs that use the folder, or choose another one."
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._release()

    def owner(self) -> int | None:
        """Return the pid of the process that holds the lock, on whatever host; None if no process
        does."""
        try:
            descriptor = os.open(self.path, os.O_RDWR)
        except OSError:
            return None
        try:
            return None if _try_lock(descriptor) else self._holder()[0]
        finally:
            os.close(descriptor)

    def is_abandoned(self) -> bool:
        """Return whether the last holder ended without releasing it: killed, or with its
        machine."""
        return is_there(self.path) and self.owner() is None

    def _acquire(self) -> int:
        for _ in range(_TRIES):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            # The holder before may have removed the file after we opened it.
            if _try_lock(descriptor) and self._is_at_path(descriptor):
                return descriptor
            os.close(descriptor)
            time.sleep(_SECONDS_BETWEEN_TRIES)
        pid, host = self._holder()
        raise UserError(
            f"{self.path.parent} is being trained by process {pid} on {host}; wait for it to "
            f"finish, or stop it with: transformer-viz stop {self.path.parent}"
        )

    def _release(self) -> None:
        """The file goes before the lock, so that nobody locks a file that is about to go."""
        if self._descriptor is None:
            return
        if sys.platform == "win32":  # where an open file cannot be removed
            os.close(self._descriptor)
            self.path.unlink(missing_ok=True)
        else:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
        self._descriptor = None

    def _is_at_path(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _write(self, descriptor: int) -> None:
        values = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(values).encode() + b"\n")

    def _holder(self) -> tuple[int, str]:
        """0 and no name in the instant before the holder has written them."""
        try:
            values = json.loads(self.path.read_text(encoding="utf-8"))
            return int(values["pid"]), str(values["host"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 0, "an unknown host"
