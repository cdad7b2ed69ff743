"""The residual stream of the trace shown, recorded while a view wants it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from core.text.tokens import Token
from core.trace.states import StackStates, States
from core.trace.trace import Trace
from transformer_viz.engine.engine import Engine
from transformer_viz.state.linking import Place
from transformer_viz.state.selection import Side
from transformer_viz.state.session import Session

LANE = "states"

AT_ONCE = 64
"""Tokens of a text whose states are recorded together; of a longer one, those around the token
that is shown."""

PAUSE = 150  # ms without a newer sentence, or without another place in a long text

FROM_A_FILE = (
    "This trace comes from a file and contains only weights; edit the text to run the model."
)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """The states of some tokens of a trace."""

    trace: Trace
    states: States

    def stack(self, side: Side) -> StackStates:
        return self.states.encoder if side == "source" else self.states.decoder

    def row(self, place: Place) -> int | None:
        """Return the index of a token in the recorded positions, or None if it was not recorded."""
        positions = self.stack(place.side).positions
        return positions.index(place.index) if place.index in positions else None


class RecordedStates(QObject):
    """Records the states of the session's trace while somebody watches, and forgets them after.

    Attributes:
        found: the latest states; while `asking`, those shown before. None where there are none.
        asking: whether newer ones are being recorded.
        problem: why there are none, in one sentence.
    """

    changed = Signal()

    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._watchers: set[object] = set()
        self._shown: dict[Side, int] = {"source": 0, "target": 0}
        self._model = session.model  # that made the trace
        self.found: Recorded | None = None
        self.asking = False
        self.problem = ""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._record)
        session.traceChanged.connect(self._on_trace)
        session.modelChanged.connect(self._on_model)
        session.sentenceChanged.connect(self._on_sentence)

    @property
    def current(self) -> Recorded | None:
        """The states of the session's trace itself, if they are there and the session's model made
        it."""
        found, session = self.found, self._session
        if found is None or session.model is not self._model:
            return None
        return found if found.trace is session.trace else None

    def watch(self, watcher: object, watched: bool) -> None:
        """Say whether a view looks; without any, nothing is recorded and nothing kept."""
        if watched:
            self._watchers.add(watcher)
            if self.current is None and not self.asking:
                self._record()
        else:
            self._watchers.discard(watcher)
            if not self._watchers:
                self._stop()
                self._show(None)

    def show(self, place: Place) -> None:
        """Say which token is looked at; of a long text, those around it are recorded."""
        self._shown[place.side] = place.index
        current = self.current
        if current is not None and not self.asking and current.row(place) is None:
            self.asking = True
            self._pause.start()

    def _on_trace(self) -> None:
        self._model = self._session.model
        self._stop()
        if self._watchers:
            self._record()

    def _on_model(self) -> None:
        """What the other model makes of the trace of the one before means nothing."""
        self._stop()

    def _on_sentence(self) -> None:
        """The sentence typed must not wait for the states of the one before."""
        if self.asking:
            self._stop()
            self.asking = True
            self._pause.start()

    def _stop(self) -> None:
        self._pause.stop()
        self._engine.cancel(LANE)
        self.asking = False

    def _record(self) -> None:
        trace = self._session.trace
        self.asking = False
        if trace is None or self._session.model is not self._model:
            self._show(None)
        elif not trace.has_ids:
            self._show(None, FROM_A_FILE)
        else:
            source = _around(trace.source_tokens, self._shown["source"])
            target = _around(trace.target_tokens, self._shown["target"])
            self.asking = True
            self._engine.ask(
                LANE,
                lambda backend, context: backend.states(trace, source, target, context),
                done=lambda states: self._show(Recorded(trace, states)),
                failed=lambda problem: self._show(None, problem),
                gates=trace.gates,
                switches=trace.switches,
            )
            self.changed.emit()

    def _show(self, found: Recorded | None, problem: str = "") -> None:
        self.found, self.problem, self.asking = found, problem, False
        self.changed.emit()


def _around(tokens: Sequence[Token], index: int) -> range:
    """`AT_ONCE` positions, of which `index` is in the middle where the text allows it."""
    start = max(0, min(index - AT_ONCE // 2, len(tokens) - AT_ONCE))
    return range(start, min(start + AT_ONCE, len(tokens)))
