"""Undo and redo of what the user did to text, sentence, selection, gates and switches, as one line
of moments.

What follows by itself, as a selection that moves along with an edited text, changes the present
moment and makes no new one. Hovering is not an act.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from core.heads import EVEN
from core.switches import Switches
from core.trace.trace import Trace
from transformer_viz.shell.controller import Controller
from transformer_viz.state.edits import common_ends
from transformer_viz.state.gates import ALL_ON, Gates
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session

MOST_MOMENTS = 500
PAUSE = 2.0
"""Seconds that end a run: of keystrokes, of moves between cells or sentences, of scalings, of
stretches."""


@dataclass(frozen=True, slots=True)
class Moment:
    """`sentence_start`: the place in the text of the sentence shown."""

    text: str
    sentence_start: int
    selection: Selection
    gates: Gates
    switches: Switches


class History(QObject):
    changed = Signal()  # whether there is something to undo or redo

    def __init__(
        self,
        session: Session,
        controller: Controller,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._controller = controller
        self._clock = clock
        self._past: list[Moment] = []
        self._future: list[Moment] = []
        self._now = Moment(
            session.text,
            session.sentence_start,
            session.selection,
            session.gates,
            session.switches,
        )
        self._run: str | None = None  # of what kind the last act was, if one of a run
        self._acted_at = 0.0
        self._moving = False
        session.textChanged.connect(self._on_text)
        session.passageChanged.connect(self._on_passage)
        session.selectionChanged.connect(self._on_selection)
        session.traceChanged.connect(self._on_trace)
        session.gatesChanged.connect(self._on_gates)
        session.switchesChanged.connect(self._on_switches)
        session.modelChanged.connect(self._on_model)

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def undo(self) -> None:
        if self._past:
            self._future.append(self._now)
            self._go(self._past.pop())

    def redo(self) -> None:
        if self._future:
            self._past.append(self._now)
            self._go(self._future.pop())

    def clear(self) -> None:
        """Begin anew with what is shown."""
        self._past.clear()
        self._future.clear()
        self._run = None
        self.changed.emit()

    def _go(self, moment: Moment) -> None:
        """Show a moment; its selection comes with the trace of its text."""
        self._run = None
        self._now = moment
        self._moving = True
        try:
            self._controller.show(
                moment.text,
                moment.selection,
                moment.gates,
                moment.switches,
                at=moment.sentence_start,
            )
        finally:
            self._moving = False
        self.changed.emit()

    def _on_text(self, text: str) -> None:
        if self._moving:
            return
        added, removed = _changed_length(self._now.text, text)
        run = "typing" if added <= 1 else None
        if self._controller.stretching.moving:
            run, removed = "stretching", 0
        if removed > 1:
            self._run = None  # typing over a selection, or deleting it, begins a run
        start = self._session.sentence_start
        self._step(replace(self._now, text=text, sentence_start=start), run)

    def _on_passage(self) -> None:
        """Another sentence, by itself or, where no text has changed, as it was split anew."""
        start = self._session.sentence_start
        if not self._moving and start != self._now.sentence_start:
            self._step(replace(self._now, sentence_start=start), "stepping")

    def _on_selection(self, selection: Selection) -> None:
        if not self._moving and selection != self._now.selection:
            run = "moving" if _is_move(self._now.selection, selection) else None
            self._step(replace(self._now, selection=selection), run)

    def _on_trace(self, _trace: Trace | None) -> None:
        """The session's selection now fits this trace; nobody chose it."""
        self._now = replace(self._now, selection=self._session.selection)

    def _on_gates(self, gates: Gates) -> None:
        if not self._moving and gates != self._now.gates:
            run = "scaling" if _is_scaling(self._now.gates, gates) else None
            self._step(replace(self._now, gates=gates), run)

    def _on_switches(self, switches: Switches) -> None:
        if not self._moving and switches != self._now.switches:
            self._step(replace(self._now, switches=switches), None)

    def _on_model(self) -> None:
        """The heads of another model are others."""
        self._past = [replace(moment, gates=ALL_ON) for moment in self._past]
        self._future = [replace(moment, gates=ALL_ON) for moment in self._future]
        session = self._session
        self._now = replace(self._now, gates=session.gates, switches=session.switches)

    def _step(self, moment: Moment, run: str | None) -> None:
        """A new moment; an act that goes on with a run changes the present one."""
        now = self._clock()
        goes_on = run is not None and run == self._run and now - self._acted_at < PAUSE
        self._run, self._acted_at = run, now
        if not goes_on:
            self._past.append(self._now)
            del self._past[:-MOST_MOMENTS]
        self._future.clear()
        self._now = moment
        self.changed.emit()


def _changed_length(before: str, after: str) -> tuple[int, int]:
    """How many characters were added and how many removed, in one place of the text."""
    kept = sum(common_ends(before, after))
    return len(after) - kept, len(before) - kept


def _is_scaling(before: Gates, after: Gates) -> bool:
    """Whether factors moved and no head was switched off, on or even, as a slider moves them."""
    changed = {head for head in {*before, *after} if before.get(head) != after.get(head)}
    return all(after.get(head, 1.0) not in (0.0, 1.0, EVEN) for head in changed)


def _is_move(before: Selection, after: Selection) -> bool:
    """Whether the current pin moved to a neighbouring row or column and nothing else changed, as
    the arrow keys and a decoding that plays move it."""
    if replace(after, query=before.query, key=before.key) != before:
        return False
    moved = ((before.query, after.query), (before.key, after.key))
    steps = [abs(b - a) if a is not None and b is not None else 2 * (a != b) for a, b in moved]
    return sum(steps) == 1
