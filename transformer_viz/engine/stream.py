"""Pictures of long texts, made beside the event loop."""

import queue
import threading
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

_POLL_MS = 15
_DELIVERY_S = 0.006  # the most that one delivery takes of the event loop


class Stream(QObject):
    """Runs an iterator in a thread and delivers its items here; a newer one replaces it.

    The thread touches no Qt object: items pass through a queue that a timer empties. It is a
    daemon, so that closing the window never waits for a picture. One iterator runs at a time: a
    newer one starts when the one before has finished the item it was at. An exception in the
    iterator is raised again in the event loop.
    """

    arrived = Signal(object)
    finished = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._job: _Job | None = None
        self._thread: threading.Thread | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._deliver)

    @property
    def running(self) -> bool:
        return self._job is not None

    def start(self, items: Iterator[Any]) -> None:
        self.stop()
        job = _Job(items)
        arguments = (job.items, job.events, job.cancelled, self._thread)
        self._thread = threading.Thread(target=_run, args=arguments, daemon=True, name="picture")
        self._job = job
        self._thread.start()
        self._timer.start()

    def stop(self) -> None:
        """Forget the items still to come; the thread ends with the one it works on."""
        self._timer.stop()
        if self._job is not None:
            self._job.cancelled.set()
            self._job = None

    def _deliver(self) -> None:
        job = self._job
        end = perf_counter() + _DELIVERY_S
        while job is not None and job is self._job and perf_counter() < end:
            try:
                event, value = job.events.get_nowait()
            except queue.Empty:
                return
            if event == "item":
                self.arrived.emit(value)
                continue
            self.stop()
            if event == "error":
                raise value
            self.finished.emit()


class _Job:
    """What a stream and its thread share. The thread holds the parts, not the job: dropping the
    stream drops the job, which ends the thread."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items
        self.events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.cancelled = threading.Event()

    def __del__(self) -> None:
        self.cancelled.set()


def _run(
    items: Iterator[Any],
    events: "queue.SimpleQueue[tuple[str, Any]]",
    cancelled: threading.Event,
    previous: threading.Thread | None,
) -> None:
    if previous is not None:
        previous.join()
    try:
        while not cancelled.is_set():
            events.put(("item", next(items)))
    except StopIteration:
        events.put(("end", None))
    except Exception as error:  # handed to the event loop, which raises it
        events.put(("error", error))
