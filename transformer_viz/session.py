"""What the window shows: one model, one trace, one selection.

Every view is a projection of the `Session`: it reads the properties, asks for a change with
`select`, `pin`, `release` or `set_hover`, and repaints when a signal says so. The window alone
calls `set_model`, `set_text`, `set_trace` and `set_status`, with what the engine delivers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Trace

Cell = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The facts about a loaded checkpoint that the window may show."""

    name: str
    path: Path
    encoder_layers: int
    decoder_layers: int
    encoder_heads: int
    decoder_heads: int
    d_model: int
    parameters: int
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Search:
    """How the translation is found: beam 1 is greedy; alpha is the length penalty."""

    beam: int = 1
    alpha: float = 0.6


@dataclass(frozen=True, slots=True)
class Selection:
    """One head, and the pinned cell in it; `query` alone pins a row, `key` alone a column."""

    kind: AttentionKind = AttentionKind.ENCODER_SELF
    layer: int = 0
    head: int = 0
    query: int | None = None
    key: int | None = None


class Phase(StrEnum):
    LOADING = "loading"  # no model can answer yet
    EMPTY = "empty"  # a model, and no text to translate
    BUSY = "busy"  # the trace shown is stale: a newer one is on its way
    READY = "ready"  # the trace shown belongs to the text shown
    FAILED = "failed"  # the last request failed; what is shown is the last good state


@dataclass(frozen=True, slots=True)
class Status:
    """`message` is one plain sentence; `milliseconds` is what the shown trace took to compute."""

    phase: Phase
    message: str = ""
    milliseconds: float | None = None


class Session(QObject):
    """The state of the window. Signals are sent only when a value really changes."""

    modelChanged = Signal(object)  # ModelInfo | None
    traceChanged = Signal(object)  # Trace | None
    selectionChanged = Signal(object)  # Selection
    hoverChanged = Signal(object)  # Cell
    statusChanged = Signal(object)  # Status

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model: ModelInfo | None = None
        self._trace: Trace | None = None
        self._selection = Selection()
        self._hover: Cell = (None, None)
        self._status = Status(Phase.LOADING)
        self._text = ""

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
    def hover(self) -> Cell:
        return self._hover

    @property
    def status(self) -> Status:
        return self._status

    @property
    def text(self) -> str:
        """The text in the source field; the trace may still belong to an older one."""
        return self._text

    @property
    def focus(self) -> Cell:
        """The cell to explain: what the pointer is on, else what is pinned."""
        query, key = self._hover
        if query is None and key is None:
            return self._selection.query, self._selection.key
        return self._hover

    def select(self, **changes: Any) -> None:
        """Change fields of the selection; the result is clamped to what the trace has.

        A new `kind` drops a pin on an axis that then names other tokens, unless the same call
        sets that pin.
        """
        kind = changes.get("kind", self._selection.kind)
        before, after = _axes(self._selection.kind), _axes(kind)
        for pin, old, new in zip(("query", "key"), before, after, strict=True):
            if old != new:
                changes.setdefault(pin, None)
        if after != before:
            self.set_hover(None, None)
        self._set_selection(replace(self._selection, **changes))

    def pin(self, query: int | None, key: int | None = None) -> None:
        """Pin a cell; `key` alone as None pins the whole row."""
        self.select(query=query, key=key)

    def release(self) -> None:
        """Drop pins and hover."""
        self.set_hover(None, None)
        self.select(query=None, key=None)

    def set_hover(self, query: int | None, key: int | None) -> None:
        hover = (query, key)
        if hover != self._hover:
            self._hover = hover
            self.hoverChanged.emit(hover)

    def set_model(self, model: ModelInfo | None) -> None:
        if model is not self._model:
            self._model = model
            self.modelChanged.emit(model)

    def set_text(self, text: str) -> None:
        self._text = text

    def set_trace(self, trace: Trace | None) -> None:
        """Show another trace; pins stay on their words where these are still there."""
        if trace is self._trace:
            return
        selection = self._selection
        if trace is not None and self._trace is not None:
            selection = _carried(selection, self._trace, trace)
        self._hover = (None, None)
        self._trace = trace
        selection = self._clamped(selection)
        changed = selection != self._selection
        self._selection = selection
        self.traceChanged.emit(trace)
        if changed:
            self.selectionChanged.emit(selection)

    def set_status(self, status: Status) -> None:
        if status != self._status:
            self._status = status
            self.statusChanged.emit(status)

    def _set_selection(self, selection: Selection) -> None:
        selection = self._clamped(selection)
        if selection != self._selection:
            self._selection = selection
            self.selectionChanged.emit(selection)

    def _clamped(self, selection: Selection) -> Selection:
        trace = self._trace
        if trace is None or not trace.kinds:
            return selection
        kind = selection.kind if selection.kind in trace.kinds else trace.kinds[0]
        if _axes(kind) != _axes(selection.kind):
            selection = replace(selection, query=None, key=None)
        layer = _clamp(selection.layer, trace.layers(kind))
        return Selection(
            kind=kind,
            layer=layer,
            head=_clamp(selection.head, trace.heads(kind, layer)),
            query=_clamp_pin(selection.query, len(trace.query_tokens(kind))),
            key=_clamp_pin(selection.key, len(trace.key_tokens(kind))),
        )


def _axes(kind: AttentionKind) -> tuple[str, str]:
    """The sides whose tokens are the queries and the keys."""
    query = "source" if kind is AttentionKind.ENCODER_SELF else "target"
    key = "target" if kind is AttentionKind.DECODER_SELF else "source"
    return query, key


def _clamp(index: int, count: int) -> int:
    return max(0, min(index, count - 1))


def _clamp_pin(index: int | None, count: int) -> int | None:
    return None if index is None or count == 0 else _clamp(index, count)


def _carried(selection: Selection, old: Trace, new: Trace) -> Selection:
    """The selection with its pins moved from the tokens of one trace to those of the next."""
    kind = selection.kind
    if kind not in old.kinds or kind not in new.kinds:
        return selection
    return replace(
        selection,
        query=_same_token(selection.query, old.query_tokens(kind), new.query_tokens(kind)),
        key=_same_token(selection.key, old.key_tokens(kind), new.key_tokens(kind)),
    )


def _same_token(index: int | None, old: Sequence[Token], new: Sequence[Token]) -> int | None:
    """Where the token at `index` is after an edit: counted from the start, else from the end."""
    if index is None:
        return None
    for moved in (index, index - len(old) + len(new)):
        if 0 <= moved < len(new) and new[moved].piece == old[index].piece:
            return moved
    return None
