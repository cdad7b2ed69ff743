"""A second trace beside the session's: another sentence, or another model on the same one."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.switches import INTACT, Switches
from core.trace.trace import Head, Trace
from transformer_viz.engine.engine import Engine
from transformer_viz.state.bundled import MinimalPair, counterpart
from transformer_viz.state.gates import ALL_ON, Gates
from transformer_viz.state.highlights import it_head
from transformer_viz.state.languages import asking_for, like
from transformer_viz.state.session import ModelInfo, Phase, Search, Session, Status

LANE = "compare"
HINT = "Type a second sentence or choose another model to see what changes."


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Two traces that belong together: A is the session's, B the second one.

    `model_a` is None where A was read from a file: nobody knows what made it.
    """

    a: Trace
    b: Trace
    model_a: ModelInfo | None
    model_b: ModelInfo

    @property
    def same_model(self) -> bool:
        return self.model_a is not None and self.model_a.path == self.model_b.path

    @property
    def same_vocabulary(self) -> bool:
        return self.model_a is not None and self.model_a.vocabulary == self.model_b.vocabulary


@dataclass(frozen=True, slots=True)
class _Question:
    path: Path
    text: str
    search: Search
    gates: Gates
    switches: Switches


class Comparison(QObject):
    """Keeps side B in step with the session while a view is watching.

    What is not chosen for B is as in A, but for a sentence of a minimal pair, which is compared
    with its counterpart. A trace from a file is compared with the session's model. The sides
    shown always belong together: while one of them is being computed, and after a failure, the
    last good ones stay.
    """

    changed = Signal()  # any of the properties below
    textWanted = Signal(str)  # as the text of A
    sentenceWanted = Signal(str)  # in place of the sentence of A
    modelWanted = Signal(object)  # Path, as the model of A

    def __init__(
        self,
        session: Session,
        engine: Engine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._search = Search()
        self._text: str | None = None
        self._path: Path | None = None
        self._head: tuple[int, int] | None = None
        self._sides: Sides | None = None
        self._status = Status(Phase.EMPTY, HINT)
        self._first: tuple[Trace, ModelInfo] | None = None  # A and the session's model, now
        self._answered: _Question | None = None  # by side B of `sides`
        self._asked: _Question | None = None  # on its way
        self._watched = False
        session.traceChanged.connect(self._on_trace)
        self._on_trace()

    @property
    def text(self) -> str | None:
        """The sentence chosen for B."""
        return self._text

    @property
    def path(self) -> Path | None:
        """The model chosen for B."""
        return self._path

    @property
    def implied_text(self) -> str | None:
        """What B's sentence is while none is chosen."""
        return self._implied(self._session.sentence)

    @property
    def sides(self) -> Sides | None:
        return self._sides

    @property
    def status(self) -> Status:
        """The state: EMPTY, BUSY, READY or FAILED, with a sentence unless READY."""
        return self._status

    def second_head(self, first: Head) -> Head:
        """Return B's head for this one of A: the same where the model is the same, else the one
        chosen, else `facing_head`."""
        sides = self._sides
        if sides is None or sides.same_model:
            return first
        if self._head is not None:
            return sides.b.nearest(Head(first.kind, *self._head))
        return facing_head(sides, first)

    def choose_text(self, text: str | None) -> None:
        """The sentence of B; blank or None stands for `implied_text`."""
        text = text if text is not None and text.strip() else None
        if text != self._text:
            self._text = text
            self._on_choice()

    def choose_model(self, path: Path | None) -> None:
        """The model of B; None stands for the one of A. One that failed is tried again."""
        if path != self._path or self._status.phase is Phase.FAILED:
            self._path = path
            self._head = None
            self._asked = None
            self._on_choice()

    def choose_head(self, layer: int, head: int) -> None:
        """Choose B's head of whichever kind is selected; only where the models differ."""
        if (layer, head) != self._head:
            self._head = layer, head
            self.changed.emit()

    def choose_pair(self, pair: MinimalPair) -> None:
        """Compare both sentences of a pair, read by the session's model."""
        self._text = self._path = self._head = None
        self.textWanted.emit(pair.first)

    def swap(self) -> None:
        """Exchange what is compared; B follows when the session shows the new A. A trace from a
        file stays A: no model makes it again."""
        sides = self._sides
        if sides is None or sides.model_a is None:
            return
        self._head = None
        if sides.a.text != sides.b.text:
            first, second = (asking_for("", side.text) for side in (sides.a, sides.b))
            implied = sides.same_model and counterpart(second) == first
            self._text = None if implied else sides.a.text
            self.sentenceWanted.emit(sides.b.text)
        if not sides.same_model:
            self._path = sides.model_a.path
            self.modelWanted.emit(sides.model_b.path)
        self.changed.emit()

    def set_search(self, search: Search) -> None:
        """How B is translated, from the next trace of A on."""
        self._search = search

    def watch(self, watched: bool) -> None:
        """Whether a view shows this; else nothing is computed."""
        self._watched = watched
        if watched:
            self._follow()
        else:
            self._forget()

    def _on_trace(self) -> None:
        trace, model = self._session.trace, self._session.model
        self._first = None if trace is None or model is None else (trace, model)
        self._follow()

    def _on_choice(self) -> None:
        self._follow()
        if not self._watched:  # else following has said so
            self.changed.emit()

    def _follow(self) -> None:
        """Ask for B unless it is there."""
        if not self._watched:
            return
        question = self._question()
        if question is None:
            self._forget()
            self._sides = None
            self._settle(Phase.EMPTY, self._reason())
        elif question == self._answered and self._sides is not None:
            self._forget()
            self._show(self._sides.model_b, self._sides.b)
        elif question != self._asked:
            self._asked = question
            self._settle(Phase.BUSY, "Translating B…")
            self._engine.ask(
                LANE,
                lambda backend, context: backend.compare(
                    question.path, question.text, question.search, context
                ),
                done=lambda answer: self._on_done(question, *answer),
                failed=self._on_failed,
                progress=lambda text: self._settle(Phase.BUSY, text),
            )

    def _question(self) -> _Question | None:
        """What B is to be, or None where that is nothing or no other than A."""
        if self._first is None:
            return None
        trace, model = self._first
        path = self._path or model.path
        text = self._text or self._implied(trace.text)
        if text and path == model.path:
            text = like(text, trace.text)
        same = text == trace.text and path == model.path and trace.has_ids
        if not text or same:
            return None
        session = self._session
        altered = (session.gates, session.switches) if path == model.path else (ALL_ON, INTACT)
        return _Question(path, text, self._search, *altered)

    def _implied(self, text: str) -> str | None:
        """B's sentence, unless one is chosen, for this one of A."""
        from_a_file = self._first is not None and not self._first[0].has_ids
        if from_a_file or self._path is not None:
            return text
        return counterpart(asking_for("", text))

    def _reason(self) -> str:
        if self._session.model is None:
            return "Open a model to compare with."
        if self._first is None:
            return "Type a sentence above first."
        if self._text is not None or self._path is not None:
            return f"The two sides are identical. {HINT}"
        return HINT

    def _forget(self) -> None:
        if self._asked is not None:
            self._asked = None
            self._engine.cancel(LANE)

    def _on_done(self, question: _Question, model: ModelInfo, trace: Trace) -> None:
        self._asked = None
        self._answered = question
        self._show(model, trace)

    def _on_failed(self, message: str) -> None:
        self._settle(Phase.FAILED, message)

    def _show(self, model: ModelInfo, trace: Trace) -> None:
        assert self._first is not None, "a question needs an A"
        first, first_model = self._first
        self._sides = Sides(first, trace, first_model if first.has_ids else None, model)
        self._settle(Phase.READY)

    def _settle(self, phase: Phase, message: str = "") -> None:
        self._status = Status(phase, message)
        self.changed.emit()


def facing_head(sides: Sides, first: Head) -> Head:
    """Return a head of another model: for the head that A's model names for "it" the one that B's
    names, if it is of that kind, else the head of the same or the nearest number."""
    named = it_head(sides.model_b)
    facing = sides.model_a is not None and first == it_head(sides.model_a)
    if named is not None and named.kind == first.kind and facing:
        return sides.b.nearest(named)
    return sides.b.nearest(first)
