"""Preparing the data of a run: how far it is, and stopping it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from core.errors import UserError
from core.training.events import Event, Preparing

SECONDS_BETWEEN_EVENTS = 0.2
ROWS_BETWEEN_CALLS = 10_000

Watch: TypeAlias = Callable[[str, int, int], None]
"""watch(what, done, total), called now and then by whatever takes long; may raise StoppedError."""


class StoppedError(UserError):
    """The preparation was asked to stop after ``step`` updates; finished chunks are kept."""

    def __init__(self, step: int) -> None:
        super().__init__("Stopped while the data was being prepared.")
        self.step = step


class Preparation:
    """A ``Watch`` that tells how far the preparation is, a few times a second at most.

    Raises:
        StoppedError: ``should_stop()``.
    """

    def __init__(
        self,
        tell: Callable[[Event], None],
        should_stop: Callable[[], bool],
        *,
        step: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell = tell
        self._should_stop = should_stop
        self._step = step
        self._clock = clock
        self._next_event = clock()

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._should_stop():
            raise StoppedError(self._step)
        now = self._clock()
        if now >= self._next_event:
            self._next_event = now + SECONDS_BETWEEN_EVENTS
            self._tell(Preparing(step=self._step, what=what, done=done, total=total))


def unwatched(what: str, done: int, total: int) -> None:
    """A ``Watch`` that ignores all reports."""
