"""What the window shows: one model and its gates, one trace, one selection.

Every view is a projection of the `Session`: it reads the properties, asks for a change with
`select`, `pin`, `release`, `set_hover`, `set_gates` or `set_switches`, and repaints when a signal
says so. The window alone calls `set_model`, `set_text`, `set_passage`, `set_trace` and
`set_status`, with what the engine delivers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.config import ModelConfig
from core.switches import INTACT, Switches
from core.text.passage import Passage
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.state.gates import ALL_ON, Gates, gates
from transformer_viz.state.linking import Place, cell_of, place_of
from transformer_viz.state.options import Penalty, ViewOptions
from transformer_viz.state.selection import Cell, Selection, axes, carried, changed, clamped


@dataclass(frozen=True, slots=True)
class Search:
    """How the translation is found: beam 1 is greedy; alpha is the exponent of the length penalty,
    and `penalty` its form."""

    beam: int = 1
    alpha: float = 0.6
    penalty: Penalty = Penalty.MODEL

    def form(self, model: "ModelInfo | None") -> str:
        """The form of the length penalty with this model, of `core.decoding.penalty.PENALTIES`."""
        if self.penalty is not Penalty.MODEL:
            return self.penalty
        return Penalty.GNMT if model is None else model.penalty


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The facts about a loaded checkpoint that the window may show.

    `vocabulary`: the same for two models that cut texts into the same pieces. `pruned`: by
    `Head.code`, the heads that were taken out; the others keep their numbers. `languages`: tokens
    such as ``>>deu<<``, with one of which a text chooses the target language. `left_out`: the
    entries of the provenance in the file that have the wrong form. `config`: the whole shape; None
    where only the numbers above are known.
    """

    name: str
    path: Path
    encoder_layers: int
    decoder_layers: int
    encoder_heads: int
    decoder_heads: int
    d_model: int
    parameters: int
    provenance: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: str = ""
    pruned: frozenset[str] = frozenset()
    languages: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    config: ModelConfig | None = None

    @property
    def search(self) -> Search | None:
        """The search that the model was made for, if it brings one along."""
        brought = self.provenance.get("decoding")
        return None if brought is None else Search(brought["beam"], brought["alpha"])

    @property
    def penalty(self) -> str:
        """The form of its length penalty, of `core.decoding.penalty.PENALTIES`."""
        form: str = self.provenance.get("decoding", {}).get("penalty", "gnmt")
        return form

    @property
    def tree_labels(self) -> tuple[str, ...]:
        """The constituents that a parser writes; none for a model that translates."""
        parses = self.provenance.get("task") == "parsing"
        return tuple(self.provenance.get("labels", ())) if parses else ()

    def has(self, head: Head) -> bool:
        encoder = head.kind is AttentionKind.ENCODER_SELF
        layers = self.encoder_layers if encoder else self.decoder_layers
        heads = self.encoder_heads if encoder else self.decoder_heads
        return head.layer < layers and head.head < heads and head.code not in self.pruned


MAX_CHARACTERS = 20_000
"""The longest text that is translated."""


class Phase(StrEnum):
    LOADING = "loading"  # no model can answer yet
    EMPTY = "empty"  # a model, and no text to translate
    BUSY = "busy"  # the trace shown is stale: a newer one is on its way
    READY = "ready"  # the trace shown belongs to the text shown
    FAILED = "failed"  # the last request failed; what is shown is the last good state


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the session; `message` is one plain sentence, `milliseconds` the time that the
    shown trace took to compute."""

    phase: Phase
    message: str = ""
    milliseconds: float | None = None


class Session(QObject):
    """The state of the window. Signals are sent only when a value really changes."""

    modelChanged = Signal(object)  # ModelInfo | None
    textChanged = Signal(str)
    sentenceChanged = Signal(str)  # what the model is asked
    passageChanged = Signal(object)  # Passage; also where another sentence of it is shown
    traceChanged = Signal(object)  # Trace | None
    selectionChanged = Signal(object)  # Selection
    hoverChanged = Signal(object)  # Cell
    pointedChanged = Signal(object)  # Place | None
    statusChanged = Signal(object)  # Status
    originChanged = Signal(str)
    optionsChanged = Signal(object)  # ViewOptions
    gatesChanged = Signal(object)  # Gates
    switchesChanged = Signal(object)  # Switches

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model: ModelInfo | None = None
        self._trace: Trace | None = None
        self._selection = Selection()
        self._options = ViewOptions()
        self._gates = ALL_ON
        self._switches = INTACT
        self._hover: Cell = (None, None)
        self._place: Place | None = None  # pointed at as a word, not as a cell
        self._pointed: Place | None = None
        self._was_pointing = False
        self._status = Status(Phase.LOADING)
        self._passage = Passage()
        self._index = 0
        self._origin = ""

    @property
    def model(self) -> ModelInfo | None:
        return self._model

    @property
    def trace(self) -> Trace | None:
        return self._trace

    @property
    def selection(self) -> Selection:
        return self._selection

    @property
    def options(self) -> ViewOptions:
        return self._options

    @property
    def gates(self) -> Gates:
        """What is done to heads; the trace may still belong to an older setting."""
        return self._gates

    @property
    def shown_gates(self) -> Gates:
        """The gates of what is shown: of a trace from a file those that it was made with, else
        those that are set."""
        trace = self._trace
        return self._gates if trace is None or trace.has_ids else trace.gates

    @property
    def switches(self) -> Switches:
        """How scaling and mask of the model are switched; the trace may still belong to an older
        setting."""
        return self._switches

    @property
    def shown_switches(self) -> Switches:
        """The switches of what is shown, as `shown_gates` are its gates."""
        trace = self._trace
        return self._switches if trace is None or trace.has_ids else trace.switches

    @property
    def is_intact(self) -> bool:
        """Whether the model answers as it was trained, without gates and switches."""
        return not self._gates and self._switches.intact

    @property
    def hover(self) -> Cell:
        return self._hover

    @property
    def is_pointing(self) -> bool:
        """Whether the pointer is on a word or a cell; what is pinned only rests."""
        return self._place is not None or self._hover != (None, None)

    @property
    def pointed(self) -> Place | None:
        """The token that all views light up: the one pointed at, else the pinned one."""
        return self._pointed

    @property
    def status(self) -> Status:
        return self._status

    @property
    def text(self) -> str:
        """The text in the source field; the trace may still belong to an older one."""
        return self._passage.text

    @property
    def passage(self) -> Passage:
        """The text and its sentences, of which one is shown."""
        return self._passage

    @property
    def index(self) -> int:
        """Which sentence of the passage is shown."""
        return self._index

    @property
    def sentence(self) -> str:
        """What the model is asked: the sentence shown, or a text of one sentence as it is."""
        return self._passage.question(self._index)

    @property
    def sentence_start(self) -> int:
        """The place of the sentence shown in the text."""
        return self._passage.spans[self._index].start

    @property
    def is_answered(self) -> bool:
        """Whether the trace shown is of the sentence shown."""
        return self._trace is not None and self._trace.text == self.sentence

    @property
    def focus(self) -> Cell:
        """The cell to explain: what the pointer is on, else what is pinned."""
        query, key = self._hover
        if query is None and key is None:
            return self._selection.query, self._selection.key
        return self._hover

    def select(self, **changes: Any) -> None:
        """Change fields of the selection, see `selection.changed`; the result is clamped to what
        the trace has."""
        selection = changed(self._selection, **changes)
        if axes(selection.kind) != axes(self._selection.kind):
            self.set_hover(None, None)
        self._set_selection(selection)

    def pin(self, query: int | None, key: int | None = None, *, add: bool = False) -> None:
        """Pin a cell, in place of what is pinned or beside it; `key` alone as None pins the row."""
        kept = self._selection.pinned if add else ()
        self.select(query=query, key=key, pins=tuple(c for c in kept if c != (query, key)))

    def unpin(self, query: int | None, key: int | None) -> None:
        """Release one pinned cell and keep the others."""
        rest = [cell for cell in self._selection.pinned if cell != (query, key)]
        query, key = rest.pop() if rest else (None, None)
        self.select(query=query, key=key, pins=tuple(rest))

    def release(self) -> None:
        """Drop pins and hover."""
        self.set_hover(None, None)
        self.select(query=None, key=None, pins=())

    def set_hover(self, query: int | None, key: int | None) -> None:
        self._point(None, (query, key))

    def point(self, place: Place | None) -> None:
        """Point at a word; its row or column is hovered if the selected map has one."""
        cell = (None, None) if place is None else cell_of(self._selection.kind, place)
        self._point(place, cell)

    def set_model(
        self,
        model: ModelInfo | None,
        factors: Gates = ALL_ON,
        switches: Switches = INTACT,
    ) -> None:
        """Show another model, with these gates and switches; all are there when the signals are
        sent."""
        before, others = (self._gates, self._switches), model is not self._model
        self._model = model
        self._gates, self._switches = self._existing(factors), switches
        if others:
            self.modelChanged.emit(model)
        if self._gates != before[0]:
            self.gatesChanged.emit(self._gates)
        if self._switches != before[1]:
            self.switchesChanged.emit(self._switches)

    def set_text(self, text: str) -> None:
        """Show a text as one sentence."""
        self.set_passage(Passage.whole(text))

    def set_passage(self, passage: Passage, index: int = 0) -> None:
        """Show this sentence of a text; all is there when the signals are sent."""
        text, sentence, before = self.text, self.sentence, (self._passage, self._index)
        self._passage = passage
        self._index = max(0, min(index, len(passage.spans) - 1))
        if self.text != text:
            self.textChanged.emit(self.text)
        if self.sentence != sentence:
            self.sentenceChanged.emit(self.sentence)
        if (self._passage, self._index) != before:
            self.passageChanged.emit(passage)

    def set_trace(self, trace: Trace | None, selected: Selection | None = None) -> None:
        """Show another trace, with what is to be `selected` in it: if nothing is said, what was
        selected before, pins on the same words where these are still there."""
        if trace is self._trace:
            return
        selection = selected or self._selection
        if selected is None and trace is not None and self._trace is not None:
            selection = carried(selection, self._trace, trace)
        self._hover, self._place = (None, None), None
        self._trace = trace
        if trace is not None:
            selection = clamped(selection, trace)
        differs = selection != self._selection
        self._selection = selection
        self._follow_pointed()
        self.traceChanged.emit(trace)
        if differs:
            self.selectionChanged.emit(selection)

    @property
    def origin(self) -> str:
        """What the trace shown is of, where it is not of the model: a file, a step of a run."""
        return self._origin

    def set_origin(self, origin: str) -> None:
        if origin != self._origin:
            self._origin = origin
            self.originChanged.emit(origin)

    def set_status(self, status: Status) -> None:
        if status != self._status:
            self._status = status
            self.statusChanged.emit(status)

    def change_options(self, **changes: Any) -> None:
        options = replace(self._options, **changes)
        if options != self._options:
            self._options = options
            self.optionsChanged.emit(options)

    def set_gates(self, factors: Gates) -> None:
        """Switch heads; those that the model does not have are left out."""
        changed = self._existing(factors)
        if changed != self._gates:
            self._gates = changed
            self.gatesChanged.emit(changed)

    def set_switches(self, switches: Switches) -> None:
        """Switch scaling or mask of the whole model."""
        if switches != self._switches:
            self._switches = switches
            self.switchesChanged.emit(switches)

    def _existing(self, factors: Gates) -> Gates:
        model = self._model
        if model is None:
            return gates(factors)
        return gates({head: factor for head, factor in factors.items() if model.has(head)})

    def _set_selection(self, selection: Selection) -> None:
        if self._trace is not None:
            selection = clamped(selection, self._trace)
        if selection != self._selection:
            self._selection = selection
            self.selectionChanged.emit(selection)
            self._follow_pointed()

    def _point(self, place: Place | None, hover: Cell) -> None:
        """A picture that is still of an older trace may point beyond this one: at nothing."""
        if self._trace is not None and not self._has(place, hover):
            place, hover = None, (None, None)
        self._place = place
        if hover != self._hover:
            self._hover = hover
            self.hoverChanged.emit(hover)
        self._follow_pointed()

    def _has(self, place: Place | None, cell: Cell) -> bool:
        """Whether the trace has these tokens."""
        assert self._trace is not None
        sides = {"source": self._trace.source_tokens, "target": self._trace.target_tokens}
        pointed = list(zip(axes(self._selection.kind), cell, strict=True))
        if place is not None:
            pointed.append((place.side, place.index))
        return all(index is None or 0 <= index < len(sides[side]) for side, index in pointed)

    def _follow_pointed(self) -> None:
        pointed = self._place
        if pointed is None and self._trace is not None:
            pointed = place_of(self._trace, self._selection.kind, self.focus)
        if (pointed, self.is_pointing) != (self._pointed, self._was_pointing):
            self._pointed, self._was_pointing = pointed, self.is_pointing
            self.pointedChanged.emit(pointed)
