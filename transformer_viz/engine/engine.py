"""The models, in a worker thread: each question ends in its answer, or in one sentence."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from core.errors import UserError
from core.switches import INTACT, Switches
from core.trace.trace import Trace
from transformer_viz.engine.backend import Backend
from transformer_viz.engine.worker import Context, Worker
from transformer_viz.state.gates import ALL_ON, Gates
from transformer_viz.state.session import Search

T = TypeVar("T")

LANES = (
    *("load", "stretch", "explain", "gates", "decode", "tree"),
    *("positions", "what_if", "quantities", "states", "lens", "pushes", "doubts", "pairs"),
    *("compare", "matter", "sentences", "times", "measure"),
)
"""In the order in which waiting questions are taken; in each lane the newest wins."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A translated sentence with the attention that produced it, and what it took."""

    trace: Trace
    milliseconds: float


class Engine(QObject):
    """Answers asynchronously: each request ends in its signal, unless a newer one takes its place.

    A question is answered with the gates and switches that are set when it is put.
    """

    progressed = Signal(str)
    loaded = Signal(object)  # ModelInfo
    loadFailed = Signal(str)
    explained = Signal(object)  # Explanation
    explainFailed = Signal(str)

    def __init__(self, backend: Backend, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._backend = backend
        self._gates = ALL_ON
        self._switches = INTACT
        self._measured = False
        self._worker = Worker("engine", lanes=LANES, parent=self)

    def load(self, path: Path) -> None:
        self._worker.submit(
            "load",
            lambda context: self._backend.load(path, context),
            done=self.loaded.emit,
            failed=self._report(self.loadFailed.emit),
            progress=self.progressed.emit,
        )

    def set_gates(self, gates: Gates) -> None:
        self._gates = gates

    def set_switches(self, switches: Switches) -> None:
        self._switches = switches

    def explain(self, text: str, search: Search, target: str | None = None) -> None:
        def run(context: Context) -> Explanation:
            start = time.perf_counter()
            trace = self._backend.explain(text, search, context, target)
            return Explanation(trace, 1000 * (time.perf_counter() - start))

        self._worker.submit(
            "explain",
            self._altered(run, self._gates, self._switches),
            done=self._explained,
            failed=self._report(self.explainFailed.emit),
            progress=self.progressed.emit,
        )

    def _explained(self, explanation: Explanation) -> None:
        self.explained.emit(explanation)
        if not self._measured:
            self._measured = True
            self.ask(
                "measure",
                lambda backend, context: backend.measure_products(context),
                done=lambda _: None,
                failed=lambda _: None,
                gates=ALL_ON,
            )

    def cancel_explain(self) -> None:
        self._worker.cancel("explain")

    def ask(
        self,
        lane: str,
        question: Callable[[Backend, Context], T],
        *,
        done: Callable[[T], None],
        failed: Callable[[str], None],
        progress: Callable[[str], None] = lambda _text: None,
        gates: Gates | None = None,
        switches: Switches = INTACT,
    ) -> None:
        """Put a question of another lane: exactly one of `done` and `failed` is called later,
        in this thread, unless a newer question of the lane takes its place. `gates` and `switches`:
        in place of those that are set; with None for `gates`, those that are set count."""
        altered = (self._gates, self._switches) if gates is None else (gates, switches)
        self._worker.submit(
            lane,
            self._altered(lambda context: question(self._backend, context), *altered),
            done=done,
            failed=self._report(failed),
            progress=progress,
        )

    def cancel(self, lane: str) -> None:
        self._worker.cancel(lane)

    def close(self, seconds: float | None = None) -> bool:
        """Stop what runs and wait for the thread, so long at most; no signal is sent any more.

        Returns whether the thread has ended.
        """
        return self._worker.close(seconds)

    def _altered(
        self, run: Callable[[Context], T], gates: Gates, switches: Switches
    ) -> Callable[[Context], T]:
        def altered(context: Context) -> T:
            with self._backend.altered(gates, switches):
                return run(context)

        return altered

    @staticmethod
    def _report(send: Callable[[str], None]) -> Callable[[Exception], None]:
        return lambda error: send(sentence(error))


def sentence(error: Exception) -> str:
    """The failure in one sentence; one that is not the user's goes to the log in full."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "There is not enough memory for this; try a shorter text or a smaller model."
    _log.error("The engine failed", exc_info=error)
    return f"The engine failed unexpectedly ({type(error).__name__}: {error})."
