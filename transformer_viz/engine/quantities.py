"""What the maps show in place of the weights, computed when it is wanted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from PySide6.QtCore import QObject, QTimer, Signal

from core.analysis.composition import Composition, rollout
from core.analysis.contributions import composition_trace, largest
from core.heads import AttentionKind
from core.trace.trace import Floats, Head, Trace
from transformer_viz.drawing.scales import WEIGHT, Measure
from transformer_viz.engine.backend import Backend
from transformer_viz.engine.worker import Context
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session

LANE = "quantities"
PAUSE = 150  # ms without a newer sentence before the question that it interrupted is put again


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A quantity of a trace.

    Attributes:
        of: the trace itself.
        trace: with the quantity's maps in place of the weights; a kind that has none is left out.
        tops: the largest value of each kind.
        composition: what the maps are from, if the quantity follows tokens through layers.
    """

    quantity: Quantity
    of: Trace
    trace: Trace
    tops: Mapping[AttentionKind, float] = field(default_factory=dict)
    composition: Composition | None = None

    def measure(self, kind: AttentionKind) -> Measure:
        quantity = self.quantity
        if quantity is Quantity.WEIGHT:
            return WEIGHT
        return Measure(quantity.short, quantity.noun, self.tops[kind], quantity.each)

    def source_shares(self, head: Head) -> Floats | None:
        """Return what comes from the source at each decoding step after the layer of this head,
        [T]; None beside the encoder, and where nothing is followed through a decoder with a source.
        """
        crossed = AttentionKind.CROSS in self.trace.kinds
        if self.composition is None or not crossed or head.kind is AttentionKind.ENCODER_SELF:
            return None
        return self.composition.source_share(head.layer)


Answer: TypeAlias = Mapping[Quantity, Found]


class Ask(Protocol):
    """The signature of `Engine.ask`."""

    def __call__(
        self,
        lane: str,
        question: Callable[[Backend, Context], Answer],
        *,
        done: Callable[[Answer], None],
        failed: Callable[[str], None],
    ) -> None: ...


class Quantities(QObject):
    """Keeps the quantity of the session's options in step with the session's trace.

    Attributes:
        found: what is to be shown; while `asking`, what was shown before. None where there is
            nothing.
        asking: whether it is on its way.
        problem: why there is none, in one sentence.
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        ask: Ask,
        cancel: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        """Follow the session; `ask` and `cancel` are the engine's."""
        super().__init__(parent)
        self._session = session
        self._ask = ask
        self._cancel = cancel
        self.found: Found | None = None
        self.asking = False
        self.problem = ""
        self._trace: Trace | None = None
        self._outdated = False  # whether the model is about to make another trace
        self._wanted = Quantity.WEIGHT
        self._weights: Found | None = None  # of the trace
        self._known: dict[Quantity, Found] = {}  # of the trace
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._put)
        session.traceChanged.connect(self._follow)
        session.optionsChanged.connect(self._follow)
        session.sentenceChanged.connect(self._on_sentence)
        session.modelChanged.connect(self._await_trace)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._await_trace)
        self._follow()

    def current(self, kind: AttentionKind) -> Found | None:
        """What there is of the session's trace now: the quantity chosen, or the weights while or
        where there is none of it."""
        found = self.found
        there = found is not None and not self.asking and kind in found.trace.kinds
        return found if there else self._weights

    @property
    def of_heads(self) -> Found | None:
        """Return the maps of each head by itself: norms where they are chosen, else the weights;
        None while the norms are being computed."""
        if self._session.options.quantity is not Quantity.NORM or self.problem:
            return self._weights
        return None if self.asking else self.found

    def _follow(self) -> None:
        trace, quantity = self._session.trace, self._session.options.quantity
        if trace is not self._trace:
            self._trace, self._known, self._outdated = trace, {}, False
            self._weights = None if trace is None else Found(Quantity.WEIGHT, trace, trace)
        elif quantity is self._wanted:
            return
        self._wanted = quantity
        self._stop()
        if trace is None:
            self._show(None)
        elif quantity is Quantity.WEIGHT:
            self._show(self._weights)
        elif quantity in self._known:
            self._show(self._known[quantity])
        else:
            self._put()

    def _on_sentence(self) -> None:
        """The sentence typed must not wait for what the one before has moved."""
        if self.asking:
            self._stop()
            self._pause.start()

    def _await_trace(self) -> None:
        """What comes next is of the trace that the model is about to make."""
        if self._trace is None or not self._trace.has_ids:
            return
        self._outdated = True
        if self._wanted is not Quantity.WEIGHT:
            self._stop()
            self.asking = True
            self.changed.emit()

    def _stop(self) -> None:
        self._pause.stop()
        self._cancel(LANE)

    def _put(self) -> None:
        trace, quantity = self._trace, self._wanted
        assert trace is not None
        self.asking, self.problem = True, ""
        if not self._outdated:  # else it is put for the trace to come
            self._ask(
                LANE,
                lambda backend, context: _answer(backend, context, trace, quantity),
                done=self._on_answer,
                failed=lambda problem: self._show(None, problem),
            )
        self.changed.emit()

    def _on_answer(self, answer: Answer) -> None:
        self._known |= answer
        self._show(answer[self._wanted])

    def _show(self, found: Found | None, problem: str = "") -> None:
        self.found, self.problem, self.asking = found, problem, False
        self.changed.emit()


def _answer(backend: Backend, context: Context, trace: Trace, quantity: Quantity) -> Answer:
    """The quantity, with those that come with it."""
    if quantity is Quantity.ROLLOUT:
        return {quantity: _composed(quantity, trace, rollout(trace, context.check))}
    moved = backend.contributions(trace, context)
    return {
        Quantity.NORM: _found(Quantity.NORM, trace, moved.norm_trace()),
        Quantity.LAYER_NORM: _found(Quantity.LAYER_NORM, trace, moved.layer_norm_trace()),
        Quantity.ALTI: _composed(Quantity.ALTI, trace, moved.alti),
    }


def _composed(quantity: Quantity, trace: Trace, composition: Composition) -> Found:
    return _found(quantity, trace, composition_trace(trace, composition), composition)


def _found(
    quantity: Quantity, trace: Trace, maps: Trace, composition: Composition | None = None
) -> Found:
    tops = {kind: largest(maps, kind) or 1.0 for kind in maps.kinds}
    return Found(quantity, trace, maps, tops, composition)
