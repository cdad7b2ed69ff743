"""Times of a decoding step by the length of the translation, measured a piece at a time."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from transformer_viz.engine.engine import Engine
from transformer_viz.state.gates import ALL_ON
from transformer_viz.state.session import Session

LANE = "times"
LENGTHS = (1, 16, 32, 64, 128, 256, 512)
"""Target tokens; a step without the cache takes at most a fraction of a second on small models."""
TOO_SLOW = 1.0
"""Seconds: a longer step is measured, but none that would take longer still."""


class StepClock(QObject):
    """Measures only while somebody watches; each length is a question of its own, so that a
    sentence that is typed never waits for all of them.

    Attributes:
        times: the seconds with and without the cache, by length, as far as they are measured.
        problem: why no more are measured, in one sentence.
    """

    changed = Signal()

    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._watched = False
        self.times: dict[int, tuple[float, float]] = {}
        self.problem = ""
        session.modelChanged.connect(self._forget)

    @property
    def running(self) -> bool:
        """Whether there is more to measure and somebody watches."""
        return self._watched and self._next is not None

    def watch(self, watched: bool) -> None:
        if watched == self._watched:
            return
        self._watched = watched
        if watched:
            self._go_on()
        else:
            self._engine.cancel(LANE)

    @property
    def _next(self) -> int | None:
        model, trace = self._session.model, self._session.trace
        if model is None or model.config is None or trace is None or not trace.has_ids:
            return None
        learned = model.config.positions == "learned"
        most = model.config.max_positions if learned else max(LENGTHS)
        slow = any(uncached > TOO_SLOW for _, uncached in self.times.values())
        left = (n for n in LENGTHS if n <= most and n not in self.times)
        return None if slow or self.problem else next(left, None)

    def _go_on(self) -> None:
        length, trace = self._next, self._session.trace
        self.changed.emit()
        if not self._watched or length is None or trace is None:
            return
        text = trace.text
        self._engine.ask(
            LANE,
            lambda backend, context: backend.step_seconds(text, length, context),
            done=lambda found: self._add(length, found),
            failed=self._fail,
            gates=ALL_ON,
        )

    def _add(self, length: int, found: tuple[float, float]) -> None:
        self.times[length] = found
        self._go_on()

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self.changed.emit()

    def _forget(self) -> None:
        """Another model has times of its own."""
        self._engine.cancel(LANE)
        self.times, self.problem = {}, ""
        self._go_on()
