"""What gates and switches do to the sentence shown: translations and probabilities compared."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from core.switches import Switches
from core.text.tokens import Token
from core.trace.alignment import GAP, align
from core.trace.trace import Trace
from transformer_viz.engine.engine import Engine
from transformer_viz.state.gates import ALL_ON, Gates
from transformer_viz.state.session import Search, Session

LANE = "gates"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One sentence, translated by the intact model and by the altered one.

    Attributes:
        forced: the pass of the altered model over the translation from before; None while it is
            not there.
    """

    gates: Gates
    switches: Switches
    before: Trace
    after: Trace
    forced: Trace | None = None

    @property
    def kept(self) -> float | None:
        """The natural logarithm of the probability that the altered model gives to the translation
        from before."""
        return None if self.forced is None else log_probability(self.forced)

    @property
    def same(self) -> bool:
        """Whether the translation stays, token by token."""
        return output_ids(self.before) == output_ids(self.after)

    @property
    def steps(self) -> dict[int, Token | None]:
        """The steps whose tokens are others than before, with those, or new ones, with None."""
        old, new = self.before.predicted_tokens, self.after.predicted_tokens
        pairs = align(output_ids(self.before), output_ids(self.after))
        return {
            step: None if place == GAP else old[place]
            for place, step in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
            if step != GAP and (place == GAP or old[place].id != new[step].id)
        }


class Gating(QObject):
    """Keeps the change in step with the session while the model is not intact.

    Attributes:
        change: of the trace that the model gave last; None while the model is intact, and while the
            translation from before is not known.
        problem: why it is not, in one sentence.
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        engine: Engine,
        search: Callable[[], Search],
        parent: QObject | None = None,
    ) -> None:
        """Follow the session; `search` tells how translations are found at the moment."""
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._search = search
        self._before: tuple[Trace, Search] | None = None  # the last answer of the intact model
        self.change: Change | None = None
        self.problem = ""
        session.sentenceChanged.connect(self._cancel)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._cancel)
        session.modelChanged.connect(self._on_model)
        session.traceChanged.connect(self._on_trace)

    def follow(self, trace: Trace) -> None:
        """The model's own answer to the session's text, with the session's gates and switches."""
        search = self._search()
        if self._session.is_intact:
            self._before = trace, search
            self._show(None)
        elif (before := self._known(trace.text, search)) is not None:
            self._compare(before, trace)
        else:
            self._show(None)
            self._engine.ask(
                LANE,
                lambda backend, context: backend.explain(trace.text, search, context),
                done=lambda before: self._on_before(before, search, trace),
                failed=lambda problem: self._show(None, problem),
                gates=ALL_ON,
            )

    def _known(self, text: str, search: Search) -> Trace | None:
        """The translation of this text by the intact model, if it was the last one asked for."""
        if self._before is None:
            return None
        before, found_by = self._before
        return before if before.text == text and found_by == search else None

    def _on_before(self, before: Trace, search: Search, after: Trace) -> None:
        self._before = before, search
        self._compare(before, after)

    def _compare(self, before: Trace, after: Trace) -> None:
        change = Change(self._session.gates, self._session.switches, before, after)
        if change.same:
            self._show(replace(change, forced=after))
            return
        self._show(change)
        self._engine.ask(
            LANE,
            lambda backend, context: backend.hypothesis(before.text, output_ids(before), context),
            done=lambda forced: self._show(replace(change, forced=forced)),
            failed=lambda problem: self._show(change, problem),
        )

    def _on_model(self) -> None:
        self._before = None
        self._cancel()

    def _on_trace(self, trace: Trace | None) -> None:
        """Without a text, or with a trace from a file, there is nothing to compare."""
        if trace is None or not trace.has_ids:
            self._cancel()
            self._show(None)

    def _cancel(self) -> None:
        self._engine.cancel(LANE)

    def _show(self, change: Change | None, problem: str = "") -> None:
        if change is not self.change or problem != self.problem:
            self.change, self.problem = change, problem
            self.changed.emit()


def output_ids(trace: Trace) -> tuple[int, ...]:
    """The tokens predicted, the end among them."""
    return tuple(token.id for token in trace.predicted_tokens)


def log_probability(trace: Trace) -> float | None:
    """Return Σ_t ln p(y_t | y_<t, x), the natural logarithm of the translation's probability."""
    logarithms = trace.log_probabilities
    return None if logarithms is None else float(logarithms.sum(dtype="float64"))
