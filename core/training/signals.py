"""Ctrl+C, SIGTERM and a terminal that is closed as a polite request."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

from core.system import stop_signals


class StopRequest:
    """A context in which the first of ``stop_signals`` only makes ``request()`` true.

    The second acts as if nobody had listened. For the main thread only.
    """

    def __init__(self) -> None:
        self._requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __call__(self) -> bool:
        return self._requested

    def __enter__(self) -> StopRequest:
        self._before = {number: signal.signal(number, self._note) for number in stop_signals()}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
