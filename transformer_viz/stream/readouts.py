"""The layer lens and the words that heads push, read in the recorded states while shown."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from core.heads import Head
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.readings import Lens, Pushes
from transformer_viz.engine.recorded_states import Recorded, RecordedStates
from transformer_viz.state.linking import Place

LENS_LANE, PUSHES_LANE = "lens", "pushes"


class Readouts(QObject):
    """Asks the model for what is shown of the states, and for nothing else.

    Attributes:
        lens: of the decoder rows that were recorded; while `asking`, the one shown before.
        pushes: of the heads and the row that were asked for, likewise.
        lens_problem, pushes_problem: why there is none, in one sentence.
    """

    changed = Signal()

    def __init__(
        self, engine: Engine, states: RecordedStates, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._states = states
        self._lens_of: Recorded | None = None  # that it was asked for
        self._pushes_of: tuple[Recorded, int, tuple[Head, ...]] | None = None
        self._waiting: set[str] = set()  # lanes
        self.lens: Lens | None = None
        self.lens_problem = ""
        self.pushes: Pushes | None = None
        self.pushes_problem = ""
        states.changed.connect(self._forget)

    @property
    def asking(self) -> bool:
        return bool(self._waiting)

    def want_lens(self) -> None:
        """Have the lens of the current states, now or when they are there."""
        found = self._states.current
        if found is None or found is self._lens_of:
            return
        self._lens_of = found
        self._waiting.add(LENS_LANE)
        self._engine.ask(
            LENS_LANE,
            lambda backend, context: backend.lens(found.trace, found.states, context),
            done=self._show_lens,
            failed=lambda problem: self._show_lens(None, problem),
            gates=found.trace.gates,
        )

    def want_pushes(self, row: int, heads: Sequence[Head]) -> None:
        """Have what these heads of the decoder push at a row, now or when it is recorded."""
        found = self._states.current
        index = None if found is None else found.row(Place("target", row))
        wanted = None if found is None or index is None else (found, index, tuple(heads))
        if wanted is None or wanted == self._pushes_of:
            return
        self._pushes_of = wanted
        recorded, at, chosen = wanted
        self._waiting.add(PUSHES_LANE)
        self._engine.ask(
            PUSHES_LANE,
            lambda backend, context: backend.pushes(
                recorded.trace, recorded.states, at, chosen, context
            ),
            done=self._show_pushes,
            failed=lambda problem: self._show_pushes(None, problem),
            gates=recorded.trace.gates,
        )

    def _forget(self) -> None:
        """What is on its way of older states is not waited for."""
        if self._states.current is None:
            for lane in (LENS_LANE, PUSHES_LANE):
                self._engine.cancel(lane)
            self._waiting.clear()
            self._lens_of = self._pushes_of = None
        if self._states.found is None:
            self.lens = self.pushes = None

    def _show_lens(self, lens: Lens | None, problem: str = "") -> None:
        self._waiting.discard(LENS_LANE)
        self.lens, self.lens_problem = lens, problem
        self.changed.emit()

    def _show_pushes(self, pushes: Pushes | None, problem: str = "") -> None:
        self._waiting.discard(PUSHES_LANE)
        self.pushes, self.pushes_problem = pushes, problem
        self.changed.emit()
