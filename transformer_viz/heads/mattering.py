"""Which heads matter for the sentence shown: each off by itself, or two of a layer together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from core.trace.trace import AttentionKind, Head
from transformer_viz.engine.backend import Backend
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.sentence_effect import SentenceEffect, WholeSentence
from transformer_viz.engine.worker import Context
from transformer_viz.state.gates import ALL_ON, Gates, gates
from transformer_viz.state.session import ModelInfo, Search, Session

LANE = "matter"
SLICE = 0.1
"""Seconds that the engine works on it at a time, so that typing never waits for longer."""

AUTOMATIC = 30_000_000
"""Parameters: of a larger model the heads are switched off only when somebody asks for it."""

NO_MODEL = "Open a model first."
NO_TEXT = "Type a sentence first."
FROM_A_FILE = "This trace comes from a file; edit the text to translate it."

Layer = tuple[AttentionKind, int]


@dataclass(frozen=True, slots=True)
class Question:
    """``layer``: whose pairs of heads are switched off; None for each head by itself."""

    model: ModelInfo
    text: str
    search: Search
    layer: Layer | None = None

    @property
    def settings(self) -> tuple[Gates, ...]:
        """What is switched off, one setting after another."""
        heads = every_head(self.model)
        if self.layer is None:
            return tuple(gates({head: 0.0}) for head in heads)
        own = [head for head in heads if (head.kind, head.layer) == self.layer]
        return tuple(
            gates({first: 0.0, second: 0.0})
            for place, first in enumerate(own)
            for second in own[place + 1 :]
        )


class Mattering(QObject):
    """Nothing is measured before `watch`. A small model is then measured whenever another sentence
    is shown. What is measured is the sentence with all heads on and with only the named ones off,
    whatever the gates of the session.

    Attributes:
        question: what was measured, or is; None if nothing was.
        whole: the sentence with all heads on.
        effects: what was found so far, the largest loss of log-probability first.
        running: whether more is to come.
        message: why there is nothing to measure, or what failed, in one sentence, or "".
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        engine: Engine,
        search: Callable[[], Search],
        parent: QObject | None = None,
    ) -> None:
        """`search`: how translations are found at the moment."""
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._search = search
        self._watched = False
        self._layer: Layer | None = None
        self._work: _Work | None = None
        self.question: Question | None = None
        self.whole: WholeSentence | None = None
        self.effects: list[SentenceEffect] = []
        self.running = False
        self.message = ""
        session.modelChanged.connect(self._follow)
        session.traceChanged.connect(self._follow)

    @property
    def layer(self) -> Layer | None:
        return self._layer

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        total = 0 if self.question is None else len(self.question.settings)
        return len(self.effects) / total if total else 0.0

    @property
    def current(self) -> bool:
        """Whether what was measured belongs to the sentence shown, and to what is asked for."""
        return self.question is not None and self.question == self._question()

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks."""
        self._watched = watched
        if watched:
            self._follow()
        else:
            self.cancel()

    def choose(self, layer: Layer | None) -> None:
        """Switch off pairs of heads of this layer, or each head by itself."""
        if layer != self._layer:
            self._layer = layer
            self._follow()

    def measure(self) -> None:
        """Measure the sentence shown, unless that has been done."""
        question = self._question()
        if question is None or (self.current and (self.running or self.share == 1)):
            return
        self._engine.cancel(LANE)
        self.question, self.whole, self.effects = question, None, []
        self._work = _Work(question)
        self.running, self.message = True, ""
        self._go_on(self._work)
        self.changed.emit()

    def cancel(self) -> None:
        """Give up what runs; what was found stays."""
        if self.running:
            self._engine.cancel(LANE)
            self.running, self._work = False, None
            self.changed.emit()

    def _question(self) -> Question | None:
        model, trace = self._session.model, self._session.trace
        if model is None or trace is None or not trace.has_ids:
            return None
        return Question(model, trace.text, self._search(), self._layer)

    def _follow(self) -> None:
        """A gate or another translation of the same text leaves what was measured."""
        if self.running and not self.current:
            self.cancel()
        if not self._watched:
            return
        model, trace = self._session.model, self._session.trace
        self.message = ""
        if model is None:
            self.message = NO_MODEL
        elif trace is None:
            self.message = NO_TEXT
        elif not trace.has_ids:
            self.message = FROM_A_FILE
        elif model.parameters <= AUTOMATIC and not self.current:
            self.measure()
        self.changed.emit()

    def _go_on(self, work: _Work) -> None:
        self._engine.ask(
            LANE,
            work.advance,
            done=lambda part: self._take(work, *part),
            failed=self._fail,
            gates=ALL_ON,
        )

    def _take(
        self, work: _Work, found: list[WholeSentence | SentenceEffect], complete: bool
    ) -> None:
        for one in found:
            if isinstance(one, WholeSentence):
                self.whole = one
            else:
                self.effects.append(one)
        self.effects.sort(key=lambda effect: effect.change)
        self.running = not complete
        if self.running:
            self._go_on(work)
        self.changed.emit()

    def _fail(self, message: str) -> None:
        self.running, self.message = False, message
        self.question = None
        self.changed.emit()


class _Work:
    """One measuring, which the engine's thread takes up again and again."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._steps: Iterator[WholeSentence | SentenceEffect] | None = None
        self._context: Context | None = None

    def advance(
        self, backend: Backend, context: Context
    ) -> tuple[list[WholeSentence | SentenceEffect], bool]:
        """What is found in a slice of time, and whether that was all."""
        self._context = context
        question = self._question
        if self._steps is None:
            self._steps = backend.sentence_effects(
                question.text, question.search, question.settings, self._check
            )
        found: list[WholeSentence | SentenceEffect] = []
        end = time.monotonic() + SLICE
        for one in self._steps:
            found.append(one)
            if time.monotonic() >= end:
                return found, False
        return found, True

    def _check(self) -> None:
        assert self._context is not None
        self._context.check()


def every_head(model: ModelInfo) -> list[Head]:
    """The heads that the model has, kind by kind and layer by layer."""
    return [
        head
        for kind in AttentionKind
        for layer in range(max(model.encoder_layers, model.decoder_layers))
        for number in range(max(model.encoder_heads, model.decoder_heads))
        if model.has(head := Head(kind, layer, number))
    ]
