"""One background thread in which the newest request of each lane wins.

A job waits in its lane until the thread is free. A newer job in the same lane takes its place
before it starts, or, once it runs, tells it to stop and keeps its outcome from being delivered.
So every lane ends with exactly one outcome, that of its newest job: a result or an error.
"""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal


class Stopped(Exception):  # noqa: N818 - no error, as StopIteration is none
    """Raised inside a job that a newer one has replaced, or that the end of the thread stops."""


class Context:
    """What a running job may ask and tell."""

    def __init__(self, stale: Callable[[], bool], report: Callable[[str], None]) -> None:
        self._stale = stale
        self._report = report

    def check(self) -> None:
        """Raise `Stopped` if nobody waits for this job any more. Cheap: call it in loops."""
        if self._stale():
            raise Stopped

    def report(self, progress: str) -> None:
        self._report(progress)


@dataclass(frozen=True, slots=True)
class Job:
    lane: str
    run: Callable[[Context], Any]
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]
    progress: Callable[[str], None]
    ticket: int


class Worker(QObject):
    """Runs jobs in one thread; their `done`, `failed` and `progress` are called in the thread
    that made the worker, by its event loop."""

    _posted = Signal(object)  # (Job, callback, value); crosses over to the owner's thread

    def __init__(self, name: str, lanes: tuple[str, ...], parent: QObject | None = None) -> None:
        """Start the thread; `lanes` are in the order in which waiting jobs are taken."""
        super().__init__(parent)
        self._lanes = lanes
        self._tickets = itertools.count(1)
        self._wanted = threading.Condition()  # guards the three below
        self._waiting: dict[str, Job] = {}
        self._newest: dict[str, int] = dict.fromkeys(lanes, 0)
        self._closing = False
        self._posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._serve, name=name)
        self._thread.start()

    def submit(
        self,
        lane: str,
        run: Callable[[Context], Any],
        *,
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        progress: Callable[[str], None],
    ) -> None:
        """Replace whatever waits or runs in the lane by this job."""
        with self._wanted:
            ticket = next(self._tickets)
            self._waiting[lane] = Job(lane, run, done, failed, progress, ticket)
            self._newest[lane] = ticket
            self._wanted.notify()

    def cancel(self, lane: str) -> None:
        """Drop what waits or runs in the lane; nothing of it is delivered."""
        with self._wanted:
            self._waiting.pop(lane, None)
            self._newest[lane] = next(self._tickets)

    def close(self, seconds: float | None = None) -> bool:
        """Stop the running job, wait for the thread and deliver nothing more."""
        with self._wanted:
            self._closing = True
            self._waiting.clear()
            self._wanted.notify()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _is_stale(self, job: Job) -> bool:
        return self._closing or self._newest[job.lane] != job.ticket

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            self._run(job)

    def _next(self) -> Job | None:
        with self._wanted:
            self._wanted.wait_for(lambda: self._closing or self._waiting)
            if self._closing:
                return None
            lane = next(lane for lane in self._lanes if lane in self._waiting)
            return self._waiting.pop(lane)

    def _run(self, job: Job) -> None:
        context = Context(
            stale=lambda: self._is_stale(job),
            report=lambda text: self._post(job, job.progress, text),
        )
        try:
            value = job.run(context)
        except Stopped:
            return
        except Exception as error:
            self._post(job, job.failed, error)
        else:
            self._post(job, job.done, value)

    def _post(self, job: Job, callback: Callable[[Any], None], value: Any) -> None:
        if not self._is_stale(job):
            self._posted.emit((job, callback, value))

    def _deliver(self, message: tuple[Job, Callable[[Any], None], Any]) -> None:
        job, callback, value = message
        if not self._is_stale(job):
            callback(value)
