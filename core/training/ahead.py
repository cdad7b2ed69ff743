"""The next epoch is made in a process of its own while the model trains on this one."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeAlias

from core.system import give_way
from core.training.pairs import EncodedPairs

_NICENESS = 10

Make: TypeAlias = Callable[[int], EncodedPairs]


class Ahead:
    """Makes an epoch ahead of time in another process; ``make(epoch)`` must depend on the epoch
    alone.

    ``make`` is sent to the process, so it is a function of a module, or a partial one. Should the
    process die, epochs are made when they are asked for.
    """

    def __init__(self, make: Make) -> None:
        self.process: BaseProcess | None = None
        self._make = make
        self._connection: Connection | None = None
        self._requested: int | None = None

    def epoch(self, epoch: int) -> EncodedPairs:
        if self._connection is not None and self._requested == epoch:
            self._requested = None
            try:
                pairs: EncodedPairs = self._connection.recv()
                return pairs
            except (EOFError, OSError):
                self.close()
        return self._make(epoch)

    def request(self, epoch: int) -> None:
        """Start on this epoch, unless another one was requested and not fetched."""
        if self._requested is not None:
            return
        if self._connection is None:
            self._connection = self._start()
        with suppress(OSError):
            self._connection.send(epoch)
            self._requested = epoch

    def close(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._connection.close()
        if self.process is not None:
            self.process.terminate()
            self.process.join()
        self.process = self._connection = self._requested = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, self._make), name="next-epoch", daemon=True
        )
        with _safe_path():
            self.process.start()
        theirs.close()  # so that each side notices when the other is gone
        return ours


@contextmanager
def _safe_path() -> Iterator[None]:
    """A Python that is started inside imports nothing from the current folder before it gets
    the import path of this one."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _serve(connection: Connection, make: Make) -> None:
    """Answer each epoch number with its pairs, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the trainer's to handle
    give_way(_NICENESS)
    with suppress(EOFError, OSError):
        while True:
            connection.send(make(connection.recv()))
