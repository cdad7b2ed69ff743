"""The question "which head resolves it?": a pair, its two traces, and the heads to look at."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from core.trace.trace import Head, Trace
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.resolution import (
    ItPair,
    ItSentence,
    Look,
    Resolution,
    look,
    word_columns,
)
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import ModelInfo, Search, Session

LANE = "pairs"
MEASURING = "Testing the heads on minimal pairs…"
NO_MODEL = "Open a model first."


class Resolving(QObject):
    """Judges which heads resolve "it". Nothing is computed before `watch`. The heads are judged
    without gates, but the two sentences are read with them, so that a head that is off is missed.

    Attributes:
        resolution: of the model shown; None until it was measured.
        traces: of both sentences of the pair; () until both are there.
        flipped: whether the second sentence is the one looked at.
        message: why there is nothing to show, in one sentence, or "".
    """

    changed = Signal()  # resolution, pair, traces or message
    flippedChanged = Signal()

    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._watched = False
        self._asked: ModelInfo | None = None  # whose resolution is there or on its way
        self._index = 0
        self.resolution: Resolution | None = None
        self.traces: tuple[Trace, ...] = ()
        self.flipped = False
        self.message = ""
        session.modelChanged.connect(self._on_model)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._read)

    @property
    def index(self) -> int:
        """The index of the chosen pair."""
        return self._index

    @property
    def pair(self) -> ItPair | None:
        return None if self.resolution is None else self.resolution.pairs[self._index]

    @property
    def sentence(self) -> ItSentence | None:
        """The one looked at."""
        return None if self.pair is None else self.pair.sides[self.flipped]

    @property
    def heads(self) -> list[Head]:
        return [] if self.resolution is None else self.resolution.best()

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks."""
        self._watched = watched
        if watched:
            self._measure()

    def choose(self, index: int) -> None:
        if index != self._index and self.resolution is not None:
            self._index, self.flipped = index, False
            self.flippedChanged.emit()
            self._read()

    def flip(self, side: bool | None = None) -> None:
        """Look at this side, or at the other one."""
        flipped = not self.flipped if side is None else side
        if flipped != self.flipped:
            self.flipped = flipped
            self.flippedChanged.emit()

    def looks(self, head: Head) -> tuple[Look | None, ...]:
        """Return a head's looks in both sentences; () while these are being read."""
        if self.pair is None or not self.traces:
            return ()
        return tuple(
            look(trace, head, sentence, word_columns(trace))
            for trace, sentence in zip(self.traces, self.pair.sides, strict=True)
        )

    def selection(self, head: Head) -> Selection:
        """The head with the row of "it" in the sentence looked at."""
        looks = self.looks(head)
        here = looks[self.flipped] if looks else None
        return Selection(*head, query=None if here is None else here.query)

    def _on_model(self) -> None:
        self._engine.cancel(LANE)
        self._asked, self.resolution, self.traces = None, None, ()
        self._index, self.flipped = 0, False
        self._measure()

    def _measure(self) -> None:
        model = self._session.model
        if not self._watched or (model is not None and model is self._asked):
            return
        if model is None:
            self._say(NO_MODEL)
            return
        self._asked = model
        self._say(MEASURING)
        self._engine.ask(
            LANE,
            lambda backend, context: backend.resolution(context),
            done=self._on_measured,
            failed=self._say,
            gates={},
        )

    def _on_measured(self, resolution: Resolution) -> None:
        self.resolution = resolution
        self._read()

    def _read(self) -> None:
        """Both sentences of the pair; what is shown of another pair goes."""
        pair = self.pair
        if pair is None:
            return
        self.traces = ()
        self._say("")
        self._engine.ask(
            LANE,
            lambda backend, context: tuple(
                backend.explain(one.text, Search(), context) for one in pair.sides
            ),
            done=self._on_read,
            failed=self._say,
        )

    def _on_read(self, traces: tuple[Trace, ...]) -> None:
        self.traces = traces
        self.changed.emit()

    def _say(self, message: str) -> None:
        self.message = message
        self.changed.emit()
